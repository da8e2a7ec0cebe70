import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { issueTrusted } from "#test/support/trusted-identity.ts";

/** A delivery as a receiver has seen it. */
export interface ReceivedDelivery {
  readonly path: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The header fields as they arrived. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** The parsed body. */
  readonly event: { readonly id: string; readonly type: string; readonly data: Record<string, unknown> };
}

/** An answer of a receiver; null if there is none. */
type Answer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
} | null;

/** How a receiver answers one delivery, at once or later. */
type Reply = (received: ReceivedDelivery) => Answer | Promise<Answer>;

/** An HTTPS server that records deliveries. */
export interface WebhookReceiver {
  /** Origin without a final slash. */
  readonly url: string;
  readonly port: number;
  readonly received: ReceivedDelivery[];
  /** Changes the answers from now on. The first ones are 204. */
  replyWith(reply: Reply): void;
  /** Number of TCP connections that were ever accepted. */
  accepted(): number;
  close(): Promise<void>;
}

/** Starts a receiver on loopback whose certificate this process trusts. `name`: host in its URL and its certificate. */
export async function startWebhookReceiver(
  options: { readonly name?: string; readonly port?: number } = {},
): Promise<WebhookReceiver> {
  const { name = "127.0.0.1" } = options;
  const received: ReceivedDelivery[] = [];
  let reply: Reply = () => ({ status: 204 });
  const server: HttpServer = await startHttpServer({
    name,
    tls: await issueTrusted(name),
    ...(options.port === undefined ? {} : { port: options.port }),
    handler(_request, response, { path, headers, body }) {
      const one: ReceivedDelivery = {
        path,
        headers: Object.fromEntries(headers.map(([key, value]) => [key.toLowerCase(), value])),
        fields: headers,
        body,
        event: JSON.parse(body) as ReceivedDelivery["event"],
      };
      received.push(one);
      const respond = (answer: Answer) => {
        if (answer !== null) response.writeHead(answer.status, answer.headers).end(answer.body);
      };
      const answer = reply(one);
      if (answer instanceof Promise) void answer.then(respond);
      else respond(answer);
      return true;
    },
  });
  return {
    url: server.url,
    port: server.port,
    received,
    replyWith: (next) => {
      reply = next;
    },
    accepted: () => server.accepted(),
    close: () => server.close(),
  };
}
