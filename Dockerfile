# Images, for amd64 and arm64: `service` (api, operator, doctor, probe), `browser` (the agent beside one Chromium), and `local` (local mode, whole).
# docs/images.md has the reasons and the sizes; `npm run image` builds the first two, `npm run image -- --local` the third.
ARG NODE_IMAGE=node:24-bookworm-slim
ARG DEBIAN_IMAGE=debian:bookworm-slim
# Of Debian's package. Left out: the newest one, or that of the builder's cache.
ARG CHROMIUM_VERSION
# Of etcd, kube-apiserver and kubectl, for `local` alone; `npm run image` makes it from the programs that local mode runs.
ARG SERVERS_IMAGE=scratch

FROM ${NODE_IMAGE} AS node

# The packages that run: none needs its install script or has native code, so the builder's own processor installs them for every other;
# and nothing reads their types and source maps.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# A machine's own way to the registry is given as secrets, which no layer keeps; without them these files are just missing.
RUN --mount=type=secret,id=npmrc --mount=type=secret,id=ca-certificates \
    NPM_CONFIG_USERCONFIG=/run/secrets/npmrc NODE_EXTRA_CA_CERTS=/run/secrets/ca-certificates \
    npm ci --omit=dev --ignore-scripts --no-audit --no-fund --cache /tmp/npm \
 && find node_modules \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# The scripts of the console, made of their sources by packages that nothing needs later.
FROM packages AS console
RUN --mount=type=secret,id=npmrc --mount=type=secret,id=ca-certificates \
    NPM_CONFIG_USERCONFIG=/run/secrets/npmrc NODE_EXTRA_CA_CERTS=/run/secrets/ca-certificates \
    npm ci --ignore-scripts --no-audit --no-fund --cache /tmp/npm
COPY src src
COPY tsconfig.json ./
COPY scripts/image/bundle-console.ts scripts/image/
RUN node scripts/image/bundle-console.ts

# Debian and Node, without npm: nothing in these images installs packages.
FROM ${DEBIAN_IMAGE} AS runtime
COPY --from=node /usr/local/bin/node /usr/local/bin/node
RUN groupadd --gid 10001 browserpool \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin browserpool
# Compiled code of every module, written while the image is built: a start finds it in the read-only image.
ENV LANG=C.UTF-8 NODE_COMPILE_CACHE=/var/cache/browserpool
RUN install --directory --owner=10001 --group=10001 "$NODE_COMPILE_CACHE"
WORKDIR /app

# Above the application, so that a change of code leaves this, the largest layer, as it is.
FROM runtime AS chromium
ARG CHROMIUM_VERSION
RUN apt-get update \
 && apt-get install --yes --no-install-recommends \
      "chromium${CHROMIUM_VERSION:+=$CHROMIUM_VERSION}" \
      "chromium-common${CHROMIUM_VERSION:+=$CHROMIUM_VERSION}" \
      "chromium-driver${CHROMIUM_VERSION:+=$CHROMIUM_VERSION}" \
      "chromium-headless-shell${CHROMIUM_VERSION:+=$CHROMIUM_VERSION}" \
      ffmpeg iproute2 socat tini xvfb \
      fonts-liberation fonts-noto-cjk fonts-noto-color-emoji \
 && apt-get clean \
 && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log /var/cache/debconf /var/cache/ldconfig/aux-cache

FROM runtime AS service
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY src src
COPY --from=console /app/src/features/console/built.json src/features/console/
USER 10001:10001
# A young generation of 32 MiB on each machine: V8 would take 128 MiB on a large one (ADR 0011).
ENV NODE_OPTIONS=--max-semi-space-size=16
RUN node --input-type=module --eval 'for (const name of ["api", "operator"]) await import(`/app/src/cmd/${name}.ts`)' \
 && chmod -R a+rX "$NODE_COMPILE_CACHE"
ENTRYPOINT ["node", "/app/src/main.ts"]
LABEL org.opencontainers.image.title="browserpool" \
      org.opencontainers.image.description="HTTP API and operator of browserpool" \
      org.opencontainers.image.licenses="Apache-2.0"

FROM chromium AS browser
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY src src
# Chromium reads its policies here; the agent makes the folder behind the link, which is this container's own.
RUN ln -s /tmp/.browserpool/policies /etc/chromium/policies
# And its locales here, for the same reason.
RUN mv /usr/lib/chromium/locales /usr/lib/chromium/locales.debian && ln -s /tmp/.browserpool/locales /usr/lib/chromium/locales
USER 10001:10001
# The programs themselves, since Debian's launchers are shell scripts; and a small young generation, since agents make little
# garbage and there is one beside every browser.
ENV BROWSERPOOL_CHROMIUM=/usr/lib/chromium/chromium \
    BROWSERPOOL_CHROMIUM_HEADLESS=/usr/lib/chromium/chromium-headless-shell \
    BROWSERPOOL_CHROMEDRIVER=/usr/bin/chromedriver \
    BROWSERPOOL_AGENT_DATA_DIR=/tmp/.browserpool \
    BROWSERPOOL_AGENT_FILES_DIR=/tmp \
    BROWSERPOOL_AGENT_SCRATCH_DIRS=/tmp/.browserpool:/tmp:/dev/shm \
    BROWSERPOOL_POLICY_DIR=/tmp/.browserpool/policies \
    BROWSERPOOL_LOCALES_DIR=/tmp/.browserpool/locales \
    BROWSERPOOL_LOCALE_PACK=/usr/lib/chromium/locales.debian/en-US.pak \
    NODE_OPTIONS=--max-semi-space-size=1
RUN node src/main.ts agent --compile && chmod -R a+rX "$NODE_COMPILE_CACHE"
# As the first process the agent would inherit Chromium's orphans, and reap none of them.
ENTRYPOINT ["tini", "--", "node", "/app/src/main.ts"]
LABEL org.opencontainers.image.title="browserpool browser" \
      org.opencontainers.image.description="Chromium and the agent of browserpool beside it" \
      org.opencontainers.image.licenses="Apache-2.0"

FROM ${SERVERS_IMAGE} AS servers

FROM chromium AS local
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap redis-server \
 && apt-get clean \
 && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log /var/cache/debconf /var/cache/ldconfig/aux-cache
COPY --from=servers / /opt/servers
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY src src
COPY --from=console /app/src/features/console/built.json src/features/console/
COPY crds crds
# For `docker run --security-opt seccomp=…`, with which each browser has its sandbox and its namespaces in a container.
COPY .devcontainer/seccomp.json /app/seccomp.json
# The folder that commands look in without --data-dir is the volume.
RUN install --directory --owner=10001 --group=10001 /data \
 && ln -s /data .browserpool \
 && printf '#!/bin/sh\nexec node /app/src/main.ts "$@"\n' > /usr/local/bin/browserpool \
 && chmod +x /usr/local/bin/browserpool
USER 10001:10001
ENV BROWSERPOOL_CHROMIUM=/usr/lib/chromium/chromium \
    BROWSERPOOL_CHROMIUM_HEADLESS=/usr/lib/chromium/chromium-headless-shell \
    BROWSERPOOL_CONTAINER=true \
    BROWSERPOOL_HOST=0.0.0.0 \
    KUBEBUILDER_ASSETS=/opt/servers \
    KUBECONFIG=/data/kubeconfig \
    PATH=/opt/servers:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN node src/main.ts agent --compile \
 && node --input-type=module --eval 'await import("/app/src/cmd/local.ts")' \
 && chmod -R a+rX "$NODE_COMPILE_CACHE"
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["tini", "--", "browserpool"]
CMD ["local", "--data-dir", "/data", "--port", "8080"]
LABEL org.opencontainers.image.title="browserpool local" \
      org.opencontainers.image.description="Local mode of browserpool: API, operator, Kubernetes API, Redis and browsers in one container" \
      org.opencontainers.image.licenses="Apache-2.0"
