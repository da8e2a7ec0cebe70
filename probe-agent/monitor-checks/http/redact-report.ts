import type { Redact } from "#shared/text/redact.ts";
import type { check } from "#shared/tools/check.ts";
import type { ResultOf } from "#shared/tools/define.ts";

type Report = ResultOf<typeof check>;

/**
 * Returns the result of the check tool with the words of its servers redacted. The rest of it are our own words, numbers,
 * and the URL of the monitor.
 */
export function redactReport(report: Report, redact: Redact): Report {
  const orNull = (words: string | null): string | null => (words === null ? null : redact(words));
  const { redirects, tls, body } = report;
  const certificate = tls?.certificate ?? null;
  return {
    ...report,
    final_url: redirects.length === 0 ? report.final_url : redact(report.final_url),
    status_text: redact(report.status_text),
    remote: { reverse: orNull(report.remote.reverse) },
    headers: report.headers.map(({ name, value }) => ({ name: redact(name), value: redact(value) })),
    redirects: redirects.map((hop, at) => ({
      ...hop,
      url: at === 0 ? hop.url : redact(hop.url),
      location: orNull(hop.location),
    })),
    tls: tls && {
      ...tls,
      certificate: certificate && {
        ...certificate,
        subject: redact(certificate.subject),
        issuer: redact(certificate.issuer),
        san: certificate.san.map(redact),
      },
    },
    body: {
      ...body,
      content_type: orNull(body.content_type),
      charset: orNull(body.charset),
      encoding: orNull(body.encoding),
    },
  };
}
