# A small image of the one binary: the lab with its page, the service, the load
# generator. The servers are other containers (docker-compose.yml).
# The compiler runs on the builder's own processor, for whichever processor the
# image is meant.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
RUN mkdir /runs
# The repository is not here: its version is given, such as by
# docker build --build-arg VERSION=$(git describe --always) .
ARG VERSION=devel TARGETOS TARGETARCH
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -tags nomsgpack -ldflags="-s -w -X main.version=$VERSION" -o /seckill ./cmd/seckill

FROM gcr.io/distroless/static-debian12:nonroot
ARG VERSION=devel
LABEL org.opencontainers.image.title="seckill" \
      org.opencontainers.image.description="A flash-sale lab: every way of deducting stock and every lock, side by side" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /seckill /seckill
# A volume that is mounted here takes its owner.
COPY --from=build --chown=65532:65532 --chmod=700 /runs /runs
USER nonroot:nonroot
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=5s --start-period=2m \
    CMD ["/seckill", "doctor", "--ready", "http://127.0.0.1:8080"]
ENTRYPOINT ["/seckill"]
