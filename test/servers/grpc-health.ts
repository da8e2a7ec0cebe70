import { Metadata, Server, ServerCredentials, type ServiceError } from "@grpc/grpc-js";
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Identity } from "#test/servers/http.ts";

/** What the service answers: a status by number, or an error. */
type Health = number | { readonly code: number; readonly details: string };

/** A real gRPC server. */
export interface GrpcServer {
  readonly port: number;
  /** Requests as they arrived, with their metadata. */
  readonly requests: readonly { readonly service: string; readonly metadata: Readonly<Record<string, unknown>> }[];
  /** Changes the answer. */
  say(health: Health): void;
  close(): void;
}

const PATH = "/grpc.health.v1.Health/Check";

/** Field 1 of a HealthCheckRequest; "" if it is absent. */
function decodeService(message: Buffer): string {
  const reader = new BinaryReader(message);
  if (message.length === 0) return "";
  const [field] = reader.tag();
  return field === 1 ? reader.string() : "another field";
}

/** Starts one on loopback. `path` null: without a health service. */
export async function startGrpcServer(
  health: Health,
  { tls = null, path = PATH }: { readonly tls?: Identity | null; readonly path?: string } = {},
): Promise<GrpcServer> {
  const requests: { service: string; metadata: Readonly<Record<string, unknown>> }[] = [];
  let answer = health;
  const server = new Server();
  const whole = (message: Buffer): Buffer => message;
  const method = {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: whole,
    requestDeserialize: whole,
    responseSerialize: whole,
    responseDeserialize: whole,
  };
  server.addService(
    { check: method },
    {
      check(
        call: { request: Buffer; metadata: Metadata },
        reply: (error: ServiceError | null, message?: Buffer) => void,
      ) {
        requests.push({ service: decodeService(call.request), metadata: call.metadata.getMap() });
        if (typeof answer !== "number") reply({ ...answer, name: "", message: "", metadata: new Metadata() });
        else reply(null, Buffer.from(answer === 0 ? [] : new BinaryWriter().uint32(8).int32(answer).finish()));
      },
    },
  );
  const credentials =
    tls === null
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }]);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
  return {
    port,
    requests,
    say(next) {
      answer = next;
    },
    close: () => server.forceShutdown(),
  };
}
