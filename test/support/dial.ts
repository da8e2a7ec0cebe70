import { credentials, type ChannelCredentials } from "@grpc/grpc-js";
import { ProbeClient } from "#shared/protocol/probe.ts";
import { CONTROL_PLANE_NAME } from "#shared/protocol/wire.ts";

/**
 * Returns credentials of a client that trusts the authority, with or without a client certificate. `anyDate`: it does
 * not verify the server, for a control plane whose clock is not the host's.
 */
export function clientCredentials(
  caCertificate: string,
  own: { readonly certificate: string; readonly privateKey: string } | null = null,
  { anyDate = false }: { readonly anyDate?: boolean } = {},
): ChannelCredentials {
  const ca = Buffer.from(caCertificate);
  const verify = { rejectUnauthorized: !anyDate };
  if (own === null) return credentials.createSsl(ca, null, null, verify);
  return credentials.createSsl(ca, Buffer.from(own.privateKey), Buffer.from(own.certificate), verify);
}

/** Creates a client of the protocol. It verifies the fixed name whatever address it dials. */
export function dialProbe(port: number, channel: ChannelCredentials): ProbeClient {
  return new ProbeClient(`localhost:${port}`, channel, {
    "grpc.ssl_target_name_override": CONTROL_PLANE_NAME,
    "grpc.default_authority": CONTROL_PLANE_NAME,
    // A separate connection, as agents have.
    "grpc.use_local_subchannel_pool": 1,
  });
}
