/** A running decoder of one content coding. */
export interface Decoder {
  /** Resolves when the piece is decoded and its output passed on. */
  write(piece: Buffer): Promise<void>;
  /** Resolves to true if the coded data was complete. */
  end(): Promise<boolean>;
  /** Reports whether the data is not valid in this coding. */
  broken(): boolean;
  destroy(): void;
}
