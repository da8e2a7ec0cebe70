import { Type } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Flag, Limitations, Nullable, Url } from "#shared/tools/fields.ts";
import { BODY_BREAKS } from "#shared/tools/http-body.ts";
import { HopTimingMs, HopTimingUs, Timing, TimingUs } from "#shared/tools/timing.ts";
import { urlSeenAt } from "#shared/tools/observations.ts";
import { elapsed, findings, ipVersion, text, record, word } from "#shared/tools/shapes.ts";

/** Whether a host accepts connections, for each address family. */
const Families = record(
  { ipv4: family("IPv4"), ipv6: family("IPv6") },
  "Both address families of the final host: the one that was used, and one connection to an address of the other",
);

function count(description: string) {
  return Type.Integer({ minimum: 0, description });
}

const Redirect = Type.Object({
  url: text("URL that redirected"),
  code: Type.Integer({ description: "HTTP status" }),
  location: Nullable(text("Target as an absolute URL")),
  ip: text("Address of the server"),
  http_version: text("1.0, 1.1 or 2"),
  timing: HopTimingMs,
  timing_us: HopTimingUs,
});

const Certificate = Type.Object(
  {
    subject: text("Distinguished name of the holder (RFC 4514)"),
    issuer: text("Distinguished name of the issuer (RFC 4514)"),
    san: Type.Array(Type.String(), { description: "Subject alternative names; truncated if there are very many" }),
    fingerprint_sha256: text("SHA-256 of the certificate, hexadecimal"),
    not_before: text("Start of validity, ISO 8601 UTC"),
    not_after: text("End of validity, ISO 8601 UTC"),
    days_left: Type.Integer({ description: "Whole days until not_after, rounded down; negative when expired" }),
  },
  { description: "The server's own certificate. The tool ssl reports all details" },
);

const Tls = Type.Object(
  {
    protocol: text("Negotiated version, e.g. TLSv1.3"),
    cipher: text("Negotiated cipher suite, IANA name"),
    alpn: Nullable(text("Negotiated application protocol (h2, http/1.1); null if the server chose none")),
    authorized: Type.Boolean({
      description: "Whether the certificate is trusted for the host name; if not, see error",
    }),
    error: Nullable(
      text(
        "Why it is not trusted: expired, not_yet_valid, self_signed, missing_intermediate, untrusted_root, hostname_mismatch, ...; null if it is",
      ),
    ),
    certificate: Nullable(Certificate),
    chain_not_after: Nullable(text("Earliest end of validity of the certificates that the server sent, ISO 8601 UTC")),
    path_not_after: Nullable(
      text("Earliest end of validity on the path to a trusted root, ISO 8601 UTC; null if there is no such path"),
    ),
  },
  { description: "TLS of the final hop. An untrusted certificate is reported here and does not stop the check" },
);

const Body = Type.Object(
  {
    content_type: Nullable(text("Media type, lower case, without parameters")),
    charset: Nullable(text("charset parameter of Content-Type, lower case")),
    content_length: Nullable(count("Content-Length as sent, in bytes")),
    transferred_bytes: count("Bytes of the body that were read, before decoding"),
    decoded_bytes: count("Bytes of the body after decoding"),
    encoding: Nullable(text("Content codings that were decoded; null if there are none")),
    truncated: Type.Boolean({
      description: "Whether reading stopped at the limit of 5 MiB or at a decompression bomb",
    }),
    sha256: Nullable(text("SHA-256 of the decoded bytes, hexadecimal; null for HEAD")),
    error: Nullable(
      text(
        `Error of the body. If it was cut short: ${Object.keys(BODY_BREAKS).join(", ")}. Otherwise: bad_encoding, ` +
          "truncated_encoding, bad_content_length, ...; null if there is none",
      ),
    ),
  },
  { description: "Body of the final response, without its content" },
);

/** Headers and timing of one request with its redirects. */
export const check = defineTool({
  name: "check",
  title: "Header check",
  summary: "Response headers, status, redirects, TLS and a timing breakdown of one URL",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  observes: ({ redirects, final_url, ip }) => [
    ...redirects.flatMap((hop) => urlSeenAt(hop.url, hop.ip)),
    ...urlSeenAt(final_url, ip),
  ],
  open: { q: "url", name: "headers" },
  deadlineMs: ({ timeout }) => timeout * 1000,
  params: Type.Object({
    url: Url({ description: "URL to check" }),
    method: withDefault(
      Type.Union([Type.Literal("GET"), Type.Literal("HEAD"), Type.Literal("POST")], { description: "Request method" }),
      "GET",
    ),
    follow: withDefault(Flag({ description: "Follow up to ten redirects" }), true),
    timeout: withDefault(
      Type.Integer({ minimum: 1, maximum: 30, description: "Time limit for the whole chain, in seconds" }),
      15,
    ),
    ua: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        examples: ["Mozilla/5.0"],
        description: "User-Agent to send instead of the default",
      }),
    ),
  }),
  result: Type.Object({
    url: text("URL as requested"),
    final_url: text("URL of the final response"),
    method: text("Method as requested"),
    code: Type.Integer({ description: "HTTP status of the final response" }),
    status_text: text("Reason phrase as sent; empty on HTTP/2"),
    http_version: text("1.0, 1.1 or 2"),
    ip: text("Address of the server"),
    ip_version: ipVersion(),
    port: Type.Integer({ description: "TCP port of the server" }),
    remote: Type.Object(
      {
        reverse: Nullable(
          text("PTR name of the address; null if there is none, the address is private, or the lookup took too long"),
        ),
      },
      { description: "Facts about the server's address" },
    ),
    addresses: Type.Array(
      Type.Object({
        ip: text("Address of the final host"),
        ip_version: ipVersion(),
        blocked: Type.Boolean({
          description: "Whether the rules for targets forbid the address. It was not contacted",
        }),
      }),
      { description: "All addresses that the final host resolves to" },
    ),
    families: Families,
    headers: Type.Array(
      Type.Object({
        name: text("Field name as sent (lower case on HTTP/2)"),
        value: text("Field value, decoded as UTF-8 if valid, else as latin1"),
      }),
      { description: "Header fields of the final response in wire order, with repeats" },
    ),
    findings: findings(),
    redirects: Type.Array(Redirect, {
      description: "Redirects that were followed, in order, without the final response",
    }),
    stopped: Nullable(
      text("bad_location if the final response redirects to a target that cannot be followed, else null"),
    ),
    tls: Nullable(Tls),
    body: Body,
    timing: Timing,
    timing_us: TimingUs,
    elapsed_ms: elapsed("Duration of the whole chain in milliseconds; the sum of timing"),
    observed_at: text("Start of the check, ISO 8601 UTC"),
    limitations: Limitations(),
  }),
  across: {
    agreeOn: ({ code, final_url }) => ({ code, final_url }),
    measure: ({ elapsed_ms, timing }) => ({ elapsed_ms, ttfb_ms: timing.ttfb_ms }),
  },
});

function family(name: string) {
  return record(
    {
      status: word(
        ["ok", "failed", "absent", "not_tried"],
        "ok: connected; failed: the target's fault; absent: the host has no such address; not_tried: unknown",
      ),
      reason: Nullable(
        text(
          "For failed: refused, timeout, reset or unreachable. For not_tried: no_route (this probe has no such route), " +
            "dns_failed, target_not_allowed, out_of_time, not_asked or local_error. Otherwise null",
        ),
      ),
      ip: Nullable(text("Address that was connected to or tried; null if there is none")),
      connect_ms: Nullable(
        Type.Number({
          minimum: 0,
          description: "Time of the TCP connection in milliseconds; null if there was no connection",
        }),
      ),
    },
    `Whether the final host accepts connections over ${name}`,
  );
}
