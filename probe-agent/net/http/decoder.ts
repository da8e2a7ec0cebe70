/** A running decoder of one content coding. */
export interface Decoder {
  /** Resolves when the piece has been worked through and its output handed on. */
  write(piece: Buffer): Promise<void>;
  /** Resolves to whether the coded data had come to its proper end. */
  end(): Promise<boolean>;
  /** True once the data turned out not to be what the coding says. */
  broken(): boolean;
  destroy(): void;
}
