# frozen_string_literal: true

# Runs carteiro.rb on one case a line: see test/support/verifiers.ts.
require 'base64'
require_relative 'carteiro'

$stdin.each_line do |line|
  function, now, secrets, body, *headers = line.chomp.split("\t", -1)
  given = headers.to_h { |header| header.split('=', 2) }
  raw_body = Base64.decode64(body)
  keys = secrets.split(',', -1)
  is_ours = function == 'verify' ? Carteiro.verify(raw_body, given, keys, now.to_f) : Carteiro.verify_body(raw_body, given, keys)
  puts is_ours
end
