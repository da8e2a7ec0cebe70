import { Type } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Flag, Limitations, Nullable, Url } from "#shared/tools/fields.ts";
import { BODY_BREAKS } from "#shared/tools/http/body.ts";
import { Families } from "#shared/tools/http/families.ts";
import { HopTimingMs, HopTimingUs, Timing, TimingUs } from "#shared/tools/timing.ts";
import { urlSeenAt } from "#shared/tools/observations.ts";
import { ipVersion, findings } from "#shared/tools/shapes.ts";
import { elapsed } from "#shared/tools/shapes.ts";

function text(description: string) {
  return Type.String({ description });
}

function count(description: string) {
  return Type.Integer({ minimum: 0, description });
}

const Redirect = Type.Object({
  url: text("URL that redirected"),
  code: Type.Integer({ description: "Its HTTP status" }),
  location: Nullable(text("Where it led, as an absolute URL")),
  ip: text("Address connected to"),
  http_version: text("1.0, 1.1 or 2"),
  timing: HopTimingMs,
  timing_us: HopTimingUs,
});

const Certificate = Type.Object(
  {
    subject: text("Distinguished name of the holder (RFC 4514)"),
    issuer: text("Distinguished name of the issuer (RFC 4514)"),
    san: Type.Array(Type.String(), { description: "Subject alternative names; cut where they are very many" }),
    fingerprint_sha256: text("SHA-256 of the certificate, hexadecimal"),
    not_before: text("Start of validity, ISO 8601 UTC"),
    not_after: text("End of validity, ISO 8601 UTC"),
    days_left: Type.Integer({ description: "Whole days until not_after, rounded down; negative when expired" }),
  },
  { description: "The server's own certificate; all about it: tool ssl" },
);

const Tls = Type.Object(
  {
    protocol: text("Negotiated version, e.g. TLSv1.3"),
    cipher: text("Negotiated cipher suite, IANA name"),
    alpn: Nullable(text("Negotiated application protocol (h2, http/1.1), null where the server chose none")),
    authorized: Type.Boolean({ description: "Whether the certificate is trusted for the name; if not, see error" }),
    error: Nullable(
      text(
        "Why not: expired, not_yet_valid, self_signed, missing_intermediate, untrusted_root, hostname_mismatch, ...",
      ),
    ),
    certificate: Nullable(Certificate),
    chain_not_after: Nullable(text("Earliest end of a certificate the server sent, ISO 8601 UTC")),
    path_not_after: Nullable(text("Earliest end on the path to a trusted root, ISO 8601 UTC; null for no such path")),
  },
  { description: "TLS of the final hop; a bad certificate is flagged here and does not end the check" },
);

const Body = Type.Object(
  {
    content_type: Nullable(text("Media type, lower case, without parameters")),
    charset: Nullable(text("charset parameter of Content-Type, lower case")),
    content_length: Nullable(count("Content-Length as sent, bytes")),
    transferred_bytes: count("Body bytes read, content codings still on"),
    decoded_bytes: count("Bytes after content codings were undone"),
    encoding: Nullable(text("Content codings undone, null for none")),
    truncated: Type.Boolean({ description: "Reading stopped at the cap of 5 MiB or at a decompression bomb" }),
    sha256: Nullable(text("SHA-256 of the decoded bytes read, hex; null for HEAD")),
    error: Nullable(
      text(
        `What was wrong. Cut short: ${Object.keys(BODY_BREAKS).join(", ")}. Else: bad_encoding, truncated_encoding, ` +
          "bad_content_length, ...",
      ),
    ),
  },
  { description: "The final response's body; its content is not returned" },
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
    follow: withDefault(Flag({ description: "Follow redirects, ten at most" }), true),
    timeout: withDefault(Type.Integer({ minimum: 1, maximum: 30, description: "For the whole chain, seconds" }), 15),
    ua: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        examples: ["Mozilla/5.0"],
        description: "User-Agent to send instead of ours",
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
    ip: text("Address connected to"),
    ip_version: ipVersion(),
    port: Type.Integer({ description: "TCP port connected to" }),
    remote: Type.Object(
      {
        reverse: Nullable(
          text("PTR name of the address; null where there is none, it is private, or it took too long"),
        ),
      },
      { description: "About the address connected to" },
    ),
    addresses: Type.Array(
      Type.Object({
        ip: text("Address of the final host"),
        ip_version: ipVersion(),
        blocked: Type.Boolean({ description: "Refused by the rules on targets, never contacted" }),
      }),
      { description: "All addresses the final host resolves to" },
    ),
    families: Families,
    headers: Type.Array(
      Type.Object({
        name: text("Field name as sent (lower case on HTTP/2)"),
        value: text("Field value, UTF-8 where valid, else latin1"),
      }),
      { description: "Header fields of the final response in wire order, repeats kept" },
    ),
    findings: findings(),
    redirects: Type.Array(Redirect, { description: "Redirects followed, in order, without the final response" }),
    stopped: Nullable(text("bad_location where the final response redirects to where nobody can follow, else null")),
    tls: Nullable(Tls),
    body: Body,
    timing: Timing,
    timing_us: TimingUs,
    elapsed_ms: elapsed("The whole chain, ms; the sum of timing"),
    observed_at: text("When the check began, ISO 8601 UTC"),
    limitations: Limitations(),
  }),
  across: {
    agreeOn: ({ code, final_url }) => ({ code, final_url }),
    measure: ({ elapsed_ms, timing }) => ({ elapsed_ms, ttfb_ms: timing.ttfb_ms }),
  },
});
