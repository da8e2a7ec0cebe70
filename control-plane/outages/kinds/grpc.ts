import { Type, type Static } from "typebox";
import { findMetadataProblem, monitorGrpc } from "#shared/monitor-checks/monitor-grpc.ts";
import type { FieldProblem, Read } from "#shared/schema/problem.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { LONGEST_VALUE, readHeaderFields } from "#control-plane/core/header-fields.ts";
import { certificateOf } from "#control-plane/outages/kinds/expiring.ts";
import { MASK } from "#control-plane/outages/kinds/mask.ts";
import { OPTIONS, PROBE, PROBED, problem, type Kind } from "#control-plane/outages/kinds/kind.ts";
import { hostAndPort, readServerTarget } from "#control-plane/outages/kinds/server-target.ts";
import { asked } from "#control-plane/outages/kinds/form-field.ts";

/** What a health service is asked. */
interface GrpcSettings {
  /** null: about the server as a whole. */
  readonly service: string | null;
  /** null: as the scheme of url says, and with TLS without one. */
  readonly tls: boolean | null;
  /** Can hold secrets: stored encrypted, beside the other options. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Maximum number of pairs of metadata. */
const MOST_METADATA = 20;

const SCHEMA = Nullable(
  Type.Object(
    {
      service: Type.Optional(
        Nullable(
          Type.String({
            minLength: 1,
            maxLength: 256,
            description: "Service to ask about, as the server names it. Default: null, the server as a whole",
            ...asked("Service", "what", { hint: "Empty: the server as a whole" }),
          }),
        ),
      ),
      tls: Type.Optional(
        Nullable(
          Type.Boolean({
            description:
              "HTTP/2 over TLS, else in the clear. A certificate that is not trusted is down. Default: null, as the " +
              "scheme of url says: grpc:// without, grpcs:// and no scheme with TLS",
            ...asked("TLS", "what"),
          }),
        ),
      ),
      metadata: Type.Optional(
        Type.Record(Type.String(), Type.String({ maxLength: LONGEST_VALUE }), {
          maxProperties: MOST_METADATA,
          description:
            "Metadata to send, at most 20; values of names that end in -bin are base64. Encrypted at rest. Responses show " +
            "each value as ****; a value of **** in a change keeps the stored value, unless the url leads to another " +
            "server. Default: none",
          ...asked("Metadata", "request", { hint: "One a line, as name: value. Stored encrypted, shown as ****" }),
        }),
      ),
    },
    {
      additionalProperties: false,
      examples: [{ service: "shop.Cart", metadata: { authorization: "Bearer s3cret" } }],
      description: "grpc: what the health service (grpc.health.v1) is asked. Omitted parts keep their values",
    },
  ),
);

const DEFAULTS: GrpcSettings = { service: null, tls: null, metadata: {} };

/** Faults of the answer of a health service (probe-agent/monitor-checks/monitor-grpc.ts), but for status codes of gRPC. */
const HEALTH_FAULTS = [
  "not_serving",
  "health_unknown",
  "service_unknown",
  "health_status",
  "not_grpc",
  "no_grpc_status",
  "no_message",
  "message_incomplete",
  "message_too_large",
  "message_compressed",
  "message_malformed",
  "several_messages",
] as const;
/** Status codes of gRPC that are no success. */
const STATUS_FAULTS =
  "status cancelled unknown invalid_argument deadline_exceeded not_found already_exists permission_denied resource_exhausted failed_precondition aborted out_of_range unimplemented internal unavailable data_loss unauthenticated".split(
    " ",
  );

/** A gRPC server that says that it serves. */
export const grpc = {
  ...PROBED,
  label: "gRPC",
  watches: "the health service of a gRPC server",
  target: {
    label: "Host and port",
    hint: "Such as api.example.com:443",
    form: "host:port, or a grpc:// or grpcs:// URL; the default port of grpcs:// is 443, that of grpc:// 80",
    port: "url",
    ruledPart: (url) => readTarget(url)?.host ?? url,
  },
  options: {
    ...OPTIONS,
    schema: SCHEMA,
    defaults: () => DEFAULTS,
    secretField: "metadata",
    originFields: ["tls"],
    read: (given, present, defaults) => merge(given as Static<typeof SCHEMA>, present, defaults),
    isNewStart: (before, after) => before.service !== after.service || before.tls !== after.tls,
  },
  findConflict: ({ url }, options) => findGrpcConflict(url, options ?? DEFAULTS),
  expires(url, _settings, options) {
    const target = readTarget(url);
    const port = target === null ? null : portOf(target);
    if (target === null || port === null || !isSecured(target, options ?? DEFAULTS)) return [];
    return certificateOf(hostAndPort(target.host, port), null);
  },
  evidence: { ...PROBED.evidence, splitsUrl: true },
  probe: {
    ...PROBE,
    contract: monitorGrpc,
    secretParams: ({ request_headers: metadata }) => ({ metadata: Object.entries(metadata) }),
    params(url, _settings, options) {
      const { service } = options ?? DEFAULTS;
      const target = readTarget(url);
      const port = target === null ? null : portOf(target);
      if (target === null || port === null) throw new Error("the target of a grpc monitor cannot be read");
      return { host: target.host, port, service, tls: isSecured(target, options ?? DEFAULTS), metadata: [] };
    },
  },
  words: {
    ...PROBED.words,
    causes: {
      ...Object.fromEntries(
        [...HEALTH_FAULTS, ...STATUS_FAULTS.map((status) => `grpc_${status}`)].map((reason) => [
          `response ${reason}`,
          { code: `response_${reason}`, headline: "health check failed", shows: "words" } as const,
        ]),
      ),
      "tls no_http2": { code: "tls_no_http2", headline: "HTTP/2 not offered", shows: "nothing" },
    },
  },
} as const satisfies Kind<GrpcSettings>;

function readTarget(url: string) {
  return readServerTarget(url, ["grpc", "grpcs"]);
}

/** Returns the port; null if none is given and the scheme has none. */
function portOf({ scheme, port }: { readonly scheme: string | null; readonly port: number | null }): number | null {
  return port ?? (scheme === "grpcs" ? 443 : scheme === "grpc" ? 80 : null);
}

/** Reports whether calls are made under TLS: as the options say, or by the scheme; without one they are. */
function isSecured({ scheme }: { readonly scheme: string | null }, { tls }: GrpcSettings): boolean {
  return tls ?? scheme !== "grpc";
}

/** Applies given parts to the present ones; null restores the defaults. */
function merge(given: Static<typeof SCHEMA>, present: GrpcSettings | null, defaults: GrpcSettings): Read<GrpcSettings> {
  if (given === null) return { ok: true, value: defaults };
  const base = present ?? defaults;
  if (given.metadata === undefined) return { ok: true, value: { ...base, ...given, metadata: base.metadata } };
  const rules = { field: "grpc.metadata", most: MOST_METADATA, mask: MASK, reserved: () => null };
  const read = readHeaderFields(given.metadata, base.metadata ?? {}, rules);
  return read.ok ? { ok: true, value: { ...base, ...given, metadata: read.value } } : read;
}

function findGrpcConflict(url: string, { tls, metadata }: GrpcSettings): FieldProblem | null {
  const wrong = findMetadataProblem(Object.entries(metadata ?? {}));
  if (wrong !== null) return problem("grpc.metadata", wrong.reason, wrong.message);
  const target = readTarget(url);
  if (target === null) {
    return problem("url", "type", "must be host:port, or a grpc:// or grpcs:// URL, without user name and path");
  }
  if (portOf(target) === null) return problem("url", "required", "must have a port, such as example.com:50051");
  if (target.scheme === null || tls === null || tls === (target.scheme === "grpcs")) return null;
  return problem(
    "grpc.tls",
    "type",
    `must be ${target.scheme === "grpcs"}, or be left out, with a ${target.scheme}:// URL`,
  );
}
