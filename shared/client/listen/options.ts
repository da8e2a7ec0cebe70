/** Options of the command as they were typed. */
export interface TypedOptions {
  readonly secretFile: string;
  readonly host: string;
  readonly port: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly status: string;
  readonly count?: string;
}

/** The options that are numbers. */
interface ListenNumbers {
  /** 0: any free port. */
  readonly port: number;
  readonly status: number;
  /** Infinity: until a signal. */
  readonly count: number;
}

/** The numbers, or the sentence that says which option is wrong. */
type ReadOptions = ({ readonly ok: true } & ListenNumbers) | { readonly ok: false; readonly message: string };

/** Reads the options that are numbers, and checks that those of TLS are both there or both absent. */
export function readOptions({ host, port, status, count, tlsCert, tlsKey }: TypedOptions): ReadOptions {
  const numbers = {
    port: readInteger(port, 0, 65_535),
    status: readInteger(status, 200, 599),
    count: count === undefined ? Infinity : readInteger(count, 1, 1_000_000_000),
  };
  // Node takes an empty host for every address of the machine.
  if (host === "") return refuse("--host must be an address or a name of this machine");
  if (numbers.port === null) return refuse("--port must be a number from 0 to 65535");
  if (numbers.status === null) return refuse("--status must be a number from 200 to 599");
  if (numbers.count === null) return refuse("--count must be a number from 1 to 1000000000");
  if (tlsCert !== undefined && tlsKey === undefined) return refuse("--tls-cert needs --tls-key");
  if (tlsKey !== undefined && tlsCert === undefined) return refuse("--tls-key needs --tls-cert");
  return { ok: true, port: numbers.port, status: numbers.status, count: numbers.count };
}

function readInteger(text: string, from: number, to: number): number | null {
  const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : null;
  return value !== null && value >= from && value <= to ? value : null;
}

function refuse(message: string): ReadOptions {
  return { ok: false, message };
}
