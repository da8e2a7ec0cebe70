import { Pool } from "undici";
import { LRUCache } from "lru-cache";
import { createPinnedConnector } from "#control-plane/webhooks/send/connector.ts";
import { describeFault, type SendFault } from "#control-plane/webhooks/send/fault.ts";

/** A request to a vetted address. */
interface SentRequest {
  readonly url: URL;
  /** The address to connect to. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The answer of a receiver, or why there is none. */
export type Exchanged =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: readonly { readonly name: string; readonly value: string }[];
      /** Beginning of the body. */
      readonly body: string;
      readonly isTruncated: boolean;
    }
  | { readonly ok: false; readonly fault: SendFault };

/** Sends requests over kept connections. */
export interface Exchanger {
  /** Sends a request and reads its answer. Never rejects. `signal` ends it, also while the body arrives. */
  post(request: SentRequest, signal: AbortSignal): Promise<Exchanged>;
  /** Closes all connections. */
  close(): void;
}

const MOST_POOLS = 500;
/** Maximum number of connections to one address for one host. */
const CONNECTIONS = 16;
/** Connections without a request are closed after this time, and pools without one after twice of it, milliseconds. */
const IDLE_MS = 30_000;
const MOST_HEAD_BYTES = 16_384;
/** Bytes of a body that are kept, and that are read at all. */
const KEPT_BYTES = 4_096;
const MOST_BODY_BYTES = 65_536;
const MOST_HEADERS = 50;
const MOST_HEADER_VALUE = 1_000;

/**
 * Creates the connections of one replica: one pool for each origin and vetted address. So two host names never share a
 * connection, and a name whose address has changed gets new ones.
 */
export function createExchanger(): Exchanger {
  const pools = new LRUCache<string, Pool>({
    max: MOST_POOLS,
    ttl: 2 * IDLE_MS,
    updateAgeOnGet: true,
    ttlAutopurge: true,
    dispose: (pool) => void pool.close().catch(() => {}),
  });

  function poolOf({ url, address }: SentRequest): Pool {
    const key = `${url.origin} ${address}`;
    const known = pools.get(key);
    if (known !== undefined) return known;
    const pool = new Pool(url.origin, {
      connect: createPinnedConnector(bareHost(url), address),
      connections: CONNECTIONS,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: MOST_HEAD_BYTES,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      // The signal of each request bounds it as a whole: these timers restart with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    pools.set(key, pool);
    return pool;
  }

  return {
    async post(request, signal) {
      const { url, headers, body } = request;
      try {
        const path = url.pathname + url.search;
        const response = await poolOf(request).request({ method: "POST", path, headers, body, signal });
        const read = await readBody(response.body);
        return { ok: true, status: response.statusCode, headers: listHeaders(response.headers), ...read };
      } catch (error) {
        return { ok: false, fault: signal.aborted ? TIMEOUT : describeFault(error) };
      }
    },
    close() {
      for (const pool of pools.values()) void pool.destroy().catch(() => {});
      pools.clear();
    },
  };
}

const TIMEOUT: SendFault = {
  code: "timeout",
  message: "The receiver did not answer completely within the time limit.",
};

/** Reads a body up to MOST_BODY_BYTES. A longer one is cut off with its connection, and counts as an answer. */
async function readBody(
  stream: AsyncIterable<Uint8Array>,
): Promise<{ readonly body: string; readonly isTruncated: boolean }> {
  const kept: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    if (length < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - length));
    length += chunk.length;
    if (length > MOST_BODY_BYTES) break;
  }
  const body = Buffer.concat(kept).toString("utf8").replaceAll("\0", "\ufffd").toWellFormed();
  return { body, isTruncated: length > KEPT_BYTES };
}

function listHeaders(headers: Readonly<Record<string, string | string[] | undefined>>) {
  const rows = Object.entries(headers).flatMap(([name, value = []]) =>
    [value].flat().map((one) => ({ name, value: one.slice(0, MOST_HEADER_VALUE).toWellFormed() })),
  );
  return rows.slice(0, MOST_HEADERS);
}

/** Returns the host of a URL without the brackets of an IPv6 address. */
function bareHost({ hostname }: URL): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}
