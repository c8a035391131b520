# `docker run slipway` starts the service; `docker run slipway publish …` runs another command.
# The digest is that of the index of all platforms, and the tag before it is for readers.
FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /slipway
COPY package.json package-lock.json .npmrc ./
# `npm ci` also installs the development dependencies (npm's `node` package among them); `npm prune` removes them.
RUN npm ci
COPY tsconfig.json tsconfig.build.json tsconfig.client.json ./
COPY src src
COPY scripts scripts
# The publisher in one file contains it.
COPY SKILL.md ./
RUN npm run build && npm prune --omit=dev

FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
LABEL org.opencontainers.image.title="Slipway" \
  org.opencontainers.image.description="Publishes desktop applications to a bucket, and answers their updaters" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.base.name="docker.io/library/node:24.18.0-bookworm-slim"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data METRICS_HOST=0.0.0.0 METRICS_PORT=9464
WORKDIR /slipway
COPY --from=build /slipway/package.json ./
COPY --from=build /slipway/node_modules node_modules
COPY --from=build /slipway/dist dist
COPY SKILL.md ./
# The user `node` must be able to write to /data; everything else may be read-only.
RUN chmod +x dist/scripts/slipway.js \
  && ln -s /slipway/dist/scripts/slipway.js /usr/local/bin/slipway \
  && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080 9464
HEALTHCHECK --interval=30s --timeout=3s --start-period=20s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# `slipway serve` replaces its process with the service, which is then process 1 and gets SIGTERM.
ENTRYPOINT ["slipway"]
CMD ["serve"]
