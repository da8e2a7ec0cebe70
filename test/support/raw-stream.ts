import { connect, type ClientHttp2Session } from "node:http2";
import { Client, type ChannelCredentials } from "@grpc/grpc-js";
import { ProbeService } from "#shared/protocol/probe.ts";
import { CONTROL_PLANE_NAME } from "#shared/protocol/wire.ts";
import type { AgentIdentity } from "#test/support/enrol.ts";

/** Opens the agents' stream, sends these octets as its messages and resolves when the other side has ended it. */
export function sendOctets(port: number, channel: ChannelCredentials, messages: readonly Buffer[]): Promise<void> {
  const client = new Client(`localhost:${port}`, channel, {
    "grpc.ssl_target_name_override": CONTROL_PLANE_NAME,
    "grpc.default_authority": CONTROL_PLANE_NAME,
  });
  const asTheyAre = (octets: Buffer): Buffer => octets;
  const stream = client.makeBidiStreamRequest(ProbeService.attach.path, asTheyAre, asTheyAre);
  for (const message of messages) stream.write(message);
  return new Promise((resolve) => {
    const over = (): void => {
      client.close();
      resolve();
    };
    stream.on("error", over).on("end", over).resume();
  });
}

/** Sends octets directly into the stream's body, below gRPC, even if their own length field is wrong. */
export function sendFrame(
  port: number,
  { caCertificate, certificate, privateKey }: AgentIdentity,
  frame: Buffer,
): Promise<void> {
  const session: ClientHttp2Session = connect(`https://localhost:${port}`, {
    ca: caCertificate,
    cert: certificate,
    key: privateKey,
    servername: CONTROL_PLANE_NAME,
  });
  return new Promise((resolve) => {
    const over = (): void => {
      session.destroy();
      resolve();
    };
    session.on("error", over);
    const stream = session.request({
      ":method": "POST",
      ":path": ProbeService.attach.path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", over).on("end", over).resume();
    stream.write(frame);
  });
}
