# The program alone: no build step, Node runs the TypeScript as it is.
FROM node:24-slim

ENV NODE_ENV=production
WORKDIR /app

# Without install scripts: the image has Node already, which the `node` package would fetch once more; DuckDB and lz4 come prebuilt.
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts

COPY query ./query
COPY sql ./sql
COPY work ./work
COPY store ./store
COPY ingest ./ingest
COPY alerts ./alerts
COPY edge ./edge
COPY src ./src
COPY web ./web
COPY LICENSE ./

# The command for people in the container, such as: docker compose exec shieldlog shieldlog tokens generate
RUN ln -s /app/src/main.ts /usr/local/bin/shieldlog

# A named volume takes over the owner of the folder it is mounted on.
RUN mkdir -m 700 /data && chown node:node /data
VOLUME /data
USER node

# HOST is reachable from outside the container, so the program asks for ACCESS_KEYS.
ENV HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data \
    UV_THREADPOOL_SIZE=16 \
    MALLOC_ARENA_MAX=2

EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

CMD ["node", "--initial-old-space-size=128", "--max-semi-space-size=4", "src/main.ts", "serve"]
