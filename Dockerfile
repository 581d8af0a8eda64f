# The service alone: Node runs the TypeScript as it is, so nothing is built, and PostgreSQL is somebody else's.
FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional

FROM node:24-slim
# One arena for all threads takes 6 MiB less.
ENV NODE_ENV=production HOST=0.0.0.0 MALLOC_ARENA_MAX=1
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY drizzle ./drizzle
COPY src ./src
# For the key pair and the secrets' key that a sandbox makes for itself; mount a volume to keep them.
RUN mkdir .data && chown node:node .data
USER node
EXPOSE 3000
ENTRYPOINT ["node", "src/main.ts"]
CMD ["api"]
