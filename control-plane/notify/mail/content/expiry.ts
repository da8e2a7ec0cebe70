import type { ExpiryEventData } from "#control-plane/notify/events/expiry-event.ts";
import type { NoticeText } from "#control-plane/notify/mail/content/notice-text.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";

const MOST_TEXT = 200;
const MOST_STATUSES = 5;

/** Writes about an event of a certificate or a registration; null for other events. `name` is that of the monitor. */
export function describeExpiry(type: string, data: Partial<ExpiryEventData>, name: string): NoticeText | null {
  const facts = [...certificateFacts(data), ...domainFacts(data)];
  const left = formatDays(data.days_left ?? null);
  const { noun, phrase } = CERTIFICATES[data.certificate?.role ?? "leaf"];
  switch (type) {
    case "ssl.expiring": {
      const headline = `${phrase} of ${name} ${left}.`;
      return { label: `${noun} ${left}`, counted: "certificates expire", headline, facts };
    }
    case "ssl.expired": {
      const headline = `${phrase} of ${name} has expired.`;
      return { label: `${noun} expired`, counted: "certificates expired", headline, facts };
    }
    case "ssl.chain_changed": {
      const isRenewal = data.looks_like_renewal === true;
      const label = isRenewal ? "Certificate renewed" : "Certificate changed";
      const headline = isRenewal
        ? `The certificate of ${name} was renewed.`
        : `The certificate of ${name} changed, and it does not look like a renewal.`;
      return { label, counted: "certificates changed", headline, facts: [...facts, ...previousFacts(data)] };
    }
    case "domain.expiring": {
      const headline = `The domain of ${name} ${left}.`;
      return { label: `Domain ${left}`, counted: "domains expire", headline, facts };
    }
    case "domain.expired": {
      const headline = `The domain registration of ${name} has lapsed.`;
      return { label: "Domain lapsed", counted: "domains lapsed", headline, facts };
    }
    default:
      return null;
  }
}

/** Words for a certificate by its place in the chain. */
const CERTIFICATES = {
  leaf: { noun: "Certificate", phrase: "The certificate" },
  intermediate: { noun: "Intermediate certificate", phrase: "An intermediate certificate" },
  root: { noun: "Root certificate", phrase: "The root certificate" },
} as const;

/** Says when something expires, or how long ago it did. Days are whole ones, rounded down. */
function formatDays(days: number | null): string {
  if (days === null) return "expires soon";
  if (days === -1) return "expired less than a day ago";
  if (days < 0) return `expired ${-days - 1} ${days === -2 ? "day" : "days"} ago`;
  if (days < 1) return "expires within a day";
  return days === 1 ? "expires in 1 day" : `expires in ${days} days`;
}

function certificateFacts({ certificate }: Partial<ExpiryEventData>): NoticeText["facts"] {
  if (certificate === undefined) return [];
  const { host, port, subject, issuer, not_after: end, fingerprint_sha256: fingerprint } = certificate;
  return [
    ["Server", `${toPlainLine(host, MOST_TEXT)} port ${port}`],
    ["Certificate", toPlainLine(subject, MOST_TEXT)],
    ["Valid until", formatTime(new Date(end))],
    ["Issuer", toPlainLine(issuer, MOST_TEXT)],
    ["SHA-256", toPlainLine(fingerprint, MOST_TEXT)],
  ];
}

function previousFacts({ previous }: Partial<ExpiryEventData>): NoticeText["facts"] {
  if (previous === undefined) return [];
  const { issuer, fingerprint_sha256: fingerprint, not_after: end } = previous;
  return [
    ...(issuer === null ? [] : ([["Issuer before", toPlainLine(issuer, MOST_TEXT)]] as const)),
    ...(end === null ? [] : ([["Valid until before", formatTime(new Date(end))]] as const)),
    ["SHA-256 before", toPlainLine(fingerprint, MOST_TEXT)],
  ];
}

function domainFacts({ domain, cause }: Partial<ExpiryEventData>): NoticeText["facts"] {
  if (domain === undefined) return [];
  const { name, registrar, expires_at: end, status } = domain;
  const words = status.slice(0, MOST_STATUSES).join(", ");
  return [
    ["Domain", toPlainLine(name, MOST_TEXT)],
    ...(cause === undefined ? [] : ([["Cause", toPlainLine(cause.message, MOST_TEXT)]] as const)),
    ...(end === null ? [] : ([["Registered until", formatTime(new Date(end))]] as const)),
    ...(registrar === null ? [] : ([["Registrar", toPlainLine(registrar, MOST_TEXT)]] as const)),
    ...(words === "" ? [] : ([["Status", toPlainLine(words, MOST_TEXT)]] as const)),
  ];
}
