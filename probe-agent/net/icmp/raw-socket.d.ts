// Types for the used parts of raw-socket 1.8.1, which has no types of its own.
declare module "raw-socket" {
  /** A raw socket. `message` passes a shared buffer, which the next packet overwrites. */
  export interface RawSocket {
    /** Sends a packet. Never calls back after close(). `before` runs right before sendto(2), `after` right after it. */
    send(
      packet: Buffer,
      offset: number,
      length: number,
      ip: string,
      before: () => void,
      after: (error: Error | null) => void,
    ): void;
    /** Calls setsockopt(2) with a 32-bit value, or with the octets of a buffer. Throws with the text of strerror. */
    setOption(level: number, option: number, value: number): void;
    setOption(level: number, option: number, value: Buffer, length: number): void;
    on(event: "message", listener: (packet: Buffer, from: string) => void): void;
    on(event: "error", listener: (error: Error) => void): void;
    on(event: "close", listener: () => void): void;
    close(): void;
  }
  interface RawSocketModule {
    /** Throws without CAP_NET_RAW. Family: 1 is IPv4, 2 is IPv6. Protocol: IANA number. */
    createSocket(options: { addressFamily: 1 | 2; protocol: number; bufferSize?: number }): RawSocket;
  }
  const raw: RawSocketModule;
  export default raw;
}
