# frozen_string_literal: true

# Rails: this is app/controllers/carteiro_controller.rb, carteiro.rb lies in lib/, and config/routes.rb has
# post '/carteiro', to: 'carteiro#receive'.
require Rails.root.join('lib/carteiro').to_s

# ActionController::API has no CSRF check; in an ActionController::Base write skip_forgery_protection.
class CarteiroController < ActionController::API
  SECRETS = ENV.fetch('CARTEIRO_SECRETS').split(',') # the new one and, while a rotation lasts, the one before
  NAMES = %w[webhook-id webhook-timestamp webhook-signature].freeze

  def receive
    headers = NAMES.to_h { |name| [name, request.headers[name]] }
    # raw_post: the body as it came, not params.
    return head :unauthorized unless Carteiro.verify(request.raw_post, headers, SECRETS)

    # Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
    head :no_content
  end
end
