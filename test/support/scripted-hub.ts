import { Metadata, Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { ProbeService, type AgentMessage, type Hello, type HubMessage } from "#shared/protocol/probe.ts";
import { CONTROL_PLANE_NAME, REPLICA_HEADER } from "#shared/protocol/wire.ts";
import { issue, type Issued } from "#test/servers/pki.ts";

/** A replica that speaks the real protocol over real TLS and does what the test says. */
export interface ScriptedHub {
  readonly address: string;
  /** Its authority as PEM. */
  readonly ca: string;
  /** Hellos received, in order. */
  readonly hellos: readonly Hello[];
  /** Returns the credits from the agent's last heartbeat, null before the first one. */
  credits(): number | null;
  /** Sets the number of waiting jobs for this hub's next heartbeats. */
  setWaiting(count: number): void;
  say(message: HubMessage): void;
  stop(): void;
}

/**
 * Starts a replica. `minor` 0 is a replica of protocol 1.0, which neither names itself before the hello nor lists other
 * replicas.
 */
export async function startScriptedHub(
  replicaId: string,
  { minor = 1, authority }: { readonly minor?: number; readonly authority?: Issued } = {},
): Promise<ScriptedHub> {
  const root = authority ?? (await issue({ ca: true, subject: "CN=authority" }));
  const own = await issue({ issuer: root, subject: `CN=${CONTROL_PLANE_NAME}`, dns: [CONTROL_PLANE_NAME] });
  const hellos: Hello[] = [];
  const streams = new Set<ServerDuplexStream<AgentMessage, HubMessage>>();
  let credits: number | null = null;
  let waiting = 0;
  const server = new Server();
  server.addService(ProbeService, {
    attach(call: ServerDuplexStream<AgentMessage, HubMessage>) {
      streams.add(call);
      call.on("error", () => {});
      call.on("end", () => call.end());
      if (minor > 0) {
        const named = new Metadata();
        named.set(REPLICA_HEADER, replicaId);
        call.sendMetadata(named);
      }
      call.on("data", ({ body }: AgentMessage) => {
        if (body?.$case === "hello") {
          hellos.push(body.value);
          const replicas = minor > 0 ? { replicas: [{ id: replicaId, address: "" }] } : undefined;
          const value = { replicaId, protocol: { major: 1, minor }, timeMs: Date.now(), replicas, authorities: [] };
          call.write({ body: { $case: "welcome", value } });
        } else if (body?.$case === "beat") {
          credits = body.value.credits;
          const value = { running: 0, credits: 0, loopLagMs: 0, waiting: minor > 0 ? waiting : 0 };
          call.write({ body: { $case: "beat", value } });
        }
      });
    },
    enroll: () => {},
    renew: () => {},
  });
  const chain = Buffer.from(own.pem + root.pem);
  const secure = ServerCredentials.createSsl(null, [{ cert_chain: chain, private_key: Buffer.from(own.keyPem) }]);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", secure, (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
  return {
    address: `localhost:${port}`,
    ca: root.pem,
    hellos,
    credits: () => credits,
    setWaiting: (count) => void (waiting = count),
    say(message) {
      for (const stream of streams) stream.write(message);
    },
    stop: () => server.forceShutdown(),
  };
}
