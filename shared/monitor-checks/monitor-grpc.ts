import { Type } from "typebox";
import { MONITOR_CHECK, REPORT_PARAMS } from "#shared/monitor-checks/define.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Host, Nullable } from "#shared/tools/fields.ts";

/** Names of metadata, its values, and those of names with the ending -bin (gRPC over HTTP/2, Custom-Metadata). */
const NAME = /^[0-9a-z_.-]+$/;
const VALUE = /^[\x20-\x7e]*$/;
const BINARY_VALUE = /^[0-9A-Za-z+/=,]*$/;
/** Fields of the protocol, which the client sets, and those that HTTP/2 does not allow. */
const RESERVED =
  /^(?:grpc-.*|te|content-type|content-length|user-agent|host|connection|keep-alive|proxy-connection|transfer-encoding|upgrade|http2-settings)$/;

/** Returns the first pair of metadata that a client cannot send; null if all can be sent. */
export function findMetadataProblem(
  metadata: readonly (readonly [name: string, value: string])[],
): FieldProblem | null {
  const problem = (message: string): FieldProblem => ({ field: "metadata", reason: "type", message });
  for (const [name, value] of metadata) {
    if (!NAME.test(name)) return problem("names must consist of 0-9, a-z, _ . and -");
    if (RESERVED.test(name)) return problem(`${name} cannot be set: the client sets it`);
    const isBinary = name.endsWith("-bin");
    if (!(isBinary ? BINARY_VALUE : VALUE).test(value)) {
      return problem(`${name} must be ${isBinary ? "base64" : "printable ASCII"}`);
    }
  }
  return null;
}

/** Asks the health service of a gRPC server (grpc.health.v1) for monitors of type grpc. */
export const monitorGrpc = defineTool({
  ...MONITOR_CHECK,
  name: "monitor-grpc",
  title: "gRPC monitor",
  summary: "Whether a gRPC server says by its health service that it serves",
  toolset: "network",
  target: { param: "host", kind: "host", connects: true },
  example: { host: "example.com", port: 443 },
  params: Type.Object({
    host: Host({ description: "Host or IP address" }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: "TCP port" }),
    service: Nullable(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: "Service to ask about, as the server names it; null for the server as a whole",
      }),
    ),
    tls: Type.Boolean({ description: "HTTP/2 over TLS; false: in the clear, with prior knowledge" }),
    metadata: Type.Array(Type.Tuple([Type.String({ maxLength: 256 }), Type.String({ maxLength: 8_192 })]), {
      maxItems: 50,
      description: "Metadata of the request as pairs of name and value",
    }),
    ...REPORT_PARAMS,
  }),
  refine: ({ metadata }) => findMetadataProblem(metadata),
});
