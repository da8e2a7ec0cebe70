// The parts of raw-socket 1.8.1 used here; the package ships no types.
declare module "raw-socket" {
  /** One raw socket. `message` hands out a shared buffer that the next packet overwrites. */
  export interface RawSocket {
    /** Never calls back after close(). `before` runs right before sendto(2), `after` right after it. */
    send(
      packet: Buffer,
      offset: number,
      length: number,
      ip: string,
      before: () => void,
      after: (error: Error | null) => void,
    ): void;
    /** setsockopt(2) with a 32-bit value, or with the bytes of a buffer. Throws with strerror's words. */
    setOption(level: number, option: number, value: number): void;
    setOption(level: number, option: number, value: Buffer, length: number): void;
    on(event: "message", listener: (packet: Buffer, from: string) => void): void;
    on(event: "error", listener: (error: Error) => void): void;
    on(event: "close", listener: () => void): void;
    close(): void;
  }
  interface RawSocketModule {
    /** Throws without CAP_NET_RAW. Family: 1 IPv4, 2 IPv6. Protocol: IANA number. */
    createSocket(options: { addressFamily: 1 | 2; protocol: number; bufferSize?: number }): RawSocket;
  }
  const raw: RawSocketModule;
  export default raw;
}
