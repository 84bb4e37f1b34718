# A small image of the one binary: the lab with its page, the service, the load
# generator. The servers are other containers (docker-compose.yml).
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN mkdir /runs
RUN CGO_ENABLED=0 go build -trimpath -tags nomsgpack -ldflags="-s -w" -o /seckill ./cmd/seckill

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /seckill /seckill
# A volume that is mounted here takes its owner.
COPY --from=build --chown=65532:65532 --chmod=700 /runs /runs
USER nonroot:nonroot
EXPOSE 8080
ENTRYPOINT ["/seckill"]
