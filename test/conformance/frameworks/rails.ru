# A Rails application in one file: rackup config.ru.
require 'rails'
require 'action_controller/railtie'

class Application < Rails::Application
  config.root = __dir__
  config.eager_load = false
  config.logger = Logger.new($stderr)
  config.secret_key_base = 'x' * 32
  config.hosts.clear
  routes.append { post '/carteiro', to: 'carteiro#receive' }
end

Rails.application.initialize!
run Rails.application
