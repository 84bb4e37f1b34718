// A browser's own, which this compiler does not know yet.
declare class DecompressionStream implements ReadableWritablePair<Uint8Array, BufferSource> {
  constructor(format: 'gzip');
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<BufferSource>;
}
