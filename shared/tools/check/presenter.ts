import { existing, fact, table, waterfall } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import type { Verdict } from "#shared/presentation/presentation.ts";
import { bytes, date, duration, milliseconds } from "#shared/presentation/values.ts";
import { check as contract } from "#shared/tools/check/contract.ts";

/** check: the answer with its timing as a waterfall, redirects, TLS and headers. */
export const check = definePresenter(contract, (data, now) => {
  const { code, final_url: url, status_text: reason, redirects, tls, body, timing, elapsed_ms: took } = data;
  const isUntrusted = tls !== null && !tls.authorized;
  const isCut = body.error !== null;
  const tone = toneOf(code);
  const phrase = reason === "" ? "" : ` ${reason}`;
  const end = tls?.certificate?.not_after;
  const phases = [
    ["Redirects", timing.redirect_ms],
    ["DNS lookup", timing.dns_ms],
    ["TCP connection", timing.connect_ms],
    ["TLS handshake", timing.tls_ms],
    ["Waiting for the first byte", timing.ttfb_ms],
    ["Download", timing.transfer_ms],
  ] as const;
  return {
    ...(isUntrusted || tone === "bad" ? { verdict: "bad" } : isCut || tone === "warning" ? { verdict: "warning" } : {}),
    headline: `${url} answers ${code}${phrase} in ${duration(took)}${isUntrusted ? `, but its certificate is not trusted: ${tls.error ?? "unknown"}` : ""}`,
    facts: existing(
      fact("Status", `${code}${phrase}`, { tone }),
      fact("Total time", milliseconds(took), { unit: "ms" }),
      fact("First byte", timing.ttfb_ms, { unit: "ms" }),
      fact("Address", data.ip),
      fact("Protocol", `HTTP/${data.http_version}`),
      fact("Redirects", redirects.length === 0 ? null : redirects.length),
      fact("TLS", tls === null ? null : `${tls.protocol}, ${tls.cipher}`),
      fact("Certificate", isUntrusted ? `not trusted: ${tls.error ?? "unknown"}` : null, { tone: "bad" }),
      fact("Certificate ends", end === undefined ? null : date(end, now)),
      fact("Content", body.content_type),
      fact("Size", bytes(body.decoded_bytes)),
      fact("Transferred", body.encoding === null ? null : `${bytes(body.transferred_bytes)}, ${body.encoding}`),
      fact("Body", isCut ? `incomplete: ${body.error}` : null, { tone: "warning" }),
      fact("IPv6", data.families.ipv6.status === "failed" ? `fails: ${data.families.ipv6.reason ?? "unknown"}` : null, {
        tone: "warning",
      }),
      fact("IPv4", data.families.ipv4.status === "failed" ? `fails: ${data.families.ipv4.reason ?? "unknown"}` : null, {
        tone: "warning",
      }),
    ),
    series: existing(waterfall("Timing", "ms", phases)),
    tables: existing(
      table(
        "Redirects",
        ["#Status", "From", "To", "#Time (ms)"],
        redirects.map((hop) => [hop.code, hop.url, hop.location, hop.timing.total_ms]),
      ),
      table(
        "Headers",
        ["Name", "Value"],
        data.headers.map(({ name, value }) => [name, value]),
      ),
    ),
  };
});

/** Returns the tone of an HTTP status of a final response: a redirect that was not followed is no fault. */
function toneOf(code: number): Verdict {
  if (code >= 500) return "bad";
  return code >= 400 ? "warning" : "good";
}
