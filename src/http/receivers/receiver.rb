# frozen_string_literal: true

# With Ruby alone, a thread a connection; in Rails or Sinatra the same lines are the route's.
require 'socket'
require_relative 'carteiro'

SECRETS = ENV.fetch('CARTEIRO_SECRETS').split(',') # the new one and, while a rotation lasts, the one before

def answer(client)
  line = client.gets.to_s
  headers = {}
  while (field = client.gets.to_s.chomp) != ''
    name, value = field.split(':', 2)
    headers[name] = value.to_s.strip
  end
  length = headers.transform_keys(&:downcase)['content-length'].to_i
  raw_body = client.read(length).to_s # before any parsing
  path = line.split(' ')[1].to_s.split('?').first
  status = if path != '/carteiro' then '404 Not Found'
           elsif !Carteiro.verify(raw_body, headers, SECRETS) then '401 Unauthorized'
           # Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
           else '204 No Content'
           end
  client.write("HTTP/1.1 #{status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
ensure
  client.close
end

server = TCPServer.new(Integer(ENV.fetch('PORT', '8080')))
loop { Thread.new(server.accept) { |client| answer(client) } }
