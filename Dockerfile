# The service alone: Node runs the TypeScript as it is, so nothing is built but the one file that partners fetch, and PostgreSQL
# is somebody else's.
# For a build that anyone can repeat, pin the base by digest: --build-arg NODE_IMAGE=docker.io/library/node@sha256:…
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# --omit=optional: the embedded PostgreSQL and npm's own Node stay out. Types and source maps serve nobody here.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-update-notifier \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' \) -delete \
  && mkdir .data

# GET /ferramentas/listen.mjs: its bundler is one of the packages for development, which stay in this stage.
FROM ${NODE_IMAGE} AS listen
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-update-notifier
COPY src ./src
RUN node src/main/make-listen.ts

FROM ${NODE_IMAGE}
# One arena for all threads takes 6 MiB less; a fixed threshold gives large buffers back at once, 7 to 20 MiB in a poller.
ENV NODE_ENV=production HOST=0.0.0.0 MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY drizzle ./drizzle
COPY src ./src
COPY --from=listen /app/src/main/listen.mjs ./src/main/
# For the key pair and the secrets' key that a sandbox makes for itself; mount a volume to keep them. Nothing else is written.
COPY --from=dependencies --chown=1000:1000 /app/.data ./.data
# The image's user `node`; by number, so that an orchestrator can see that it is not root.
USER 1000:1000
# --build-arg REVISION=$(git rev-parse HEAD), which /metrics shows.
ARG REVISION=unknown
ENV CARTEIRO_REVISION=${REVISION}
EXPOSE 3000 9464
# The command gives up after 3 s by itself; the rest of the 20 s is for the start of its Node on a host that is busy.
HEALTHCHECK --interval=10s --timeout=20s --start-period=60s CMD ["node", "src/main.ts", "health"]
# Node takes SIGTERM as process 1, and drains. Longer than an attempt (30 s) and the API's DRAIN_DELAY_SECONDS may be waited for.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "src/main.ts"]
CMD ["api"]
