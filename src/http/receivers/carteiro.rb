# frozen_string_literal: true

require 'openssl'

# Verifies the signature of a delivery. A file to copy: it needs Ruby 3.0 or later and nothing else.
# Give it the raw bytes of the body (request.body.read of Rack), before any parsing, and every secret in force: two while a
# rotation lasts. +headers+ is a hash from names to values; the case of the names does not matter.
module Carteiro
  # Older or newer deliveries are refused, so that nobody can send a recorded one again.
  TOLERANCE_S = 300

  module_function

  # True when one of +secrets+ signed exactly these bytes within five minutes of +now_s+. Reads the Standard Webhooks headers.
  def verify(raw_body, headers, secrets, now_s = Time.now.to_f)
    values = headers.transform_keys(&:downcase)
    id, timestamp, given = values.values_at('webhook-id', 'webhook-timestamp', 'webhook-signature')
    return false if id.nil? || given.nil? || !/\A[0-9]{1,12}\z/.match?(timestamp.to_s)
    return false if (now_s - timestamp.to_i).abs > TOLERANCE_S

    signed = "#{id}.#{timestamp}.".b + raw_body.b
    secrets.any? do |secret|
      key = standard_key(secret)
      next false if key.nil? || key.empty?

      expected = "v1,#{[OpenSSL::HMAC.digest('SHA256', key, signed)].pack('m0')}"
      given.split(' ').any? { |signature| OpenSSL.secure_compare(signature, expected) }
    end
  end

  # True when one of +secrets+ signed exactly these bytes. Reads the contract's headers X-Webhook-Signature and, during a rotation,
  # X-Webhook-Signature-Previous. They sign no time: a recorded delivery passes, so deduplicate by X-Webhook-Delivery, or use verify.
  def verify_body(raw_body, headers, secrets)
    values = headers.transform_keys(&:downcase)
    given = values.values_at('x-webhook-signature', 'x-webhook-signature-previous').compact
    secrets.any? do |secret|
      next false if secret.empty?

      expected = "sha256=#{OpenSSL::HMAC.hexdigest('SHA256', secret, raw_body)}"
      given.any? { |signature| OpenSSL.secure_compare(signature, expected) }
    end
  end

  # Nil for a secret that cannot be a key.
  def standard_key(secret)
    secret.delete_prefix('whsec_').unpack1('m0')
  rescue ArgumentError
    nil
  end
end
