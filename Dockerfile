# Runs the service by default; `slipway …` runs the command line.
FROM node:24-bookworm-slim AS build
WORKDIR /slipway
COPY package.json package-lock.json .npmrc ./
# `npm ci` also installs the development dependencies (npm's `node` package among them); `npm prune` removes them.
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY scripts scripts
RUN npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data METRICS_HOST=0.0.0.0
WORKDIR /slipway
COPY --from=build /slipway/package.json ./
COPY --from=build /slipway/node_modules node_modules
COPY --from=build /slipway/dist dist
# The user `node` must be able to write to /data.
RUN chmod +x dist/scripts/slipway.js \
  && ln -s /slipway/dist/scripts/slipway.js /usr/local/bin/slipway \
  && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080 9464
HEALTHCHECK --interval=30s --timeout=3s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT ?? 8080}/livez`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The flag keeps garbage from taking 80 MB more while many clients download: V8 sizes its young generation by the machine.
CMD ["node", "--max-semi-space-size=16", "dist/src/server.js"]
