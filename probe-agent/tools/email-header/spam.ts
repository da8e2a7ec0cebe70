import type { HeaderRows } from "#probe-agent/tools/email-header/rows.ts";
import { decodeWords } from "#probe-agent/tools/email-header/encoded-words.ts";
import type { Field } from "#probe-agent/tools/email-header/fields.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

type SpamHeader = HeaderRows["spam_headers"][number];
type Verdict = Pick<SpamHeader, "verdict" | "score" | "threshold">;

const MAX_SPAM_FIELDS = 60;
/** Maximum number of characters of a field that are read. Longer fields are lists of rules. */
const MAX_READ = 4096;
const NAMES =
  /^x-(?:spam|rspamd?|barracuda|forefront-antispam|microsoft-antispam|ms-exchange-organization-scl|ms-exchange-organization-pcl|ms-exchange-organization-antispam|proofpoint|ham-|spamd|spamexperts|cmae|gm-spam|ironport|mailscanner|bogosity|dspam|sophos|trendmicro|tmn|mimecast-spam|ovh-spam|vade|spampal|junkmail)/;
const NOTHING: Verdict = { verdict: null, score: null, threshold: null };
/**
 * Default threshold of Exchange: an SCL ("spam confidence level") of 5 or more is spam. For bulk mail (BCL) it is 7.
 */
const SCL_SPAM = 5;

/** Reads the fields of spam filters, with the results of known filters. */
export function readSpamHeaders(fields: readonly Field[]): SpamHeader[] {
  return fields
    .filter(({ key }) => NAMES.test(key))
    .slice(0, MAX_SPAM_FIELDS)
    .map(({ key, name, value }) => ({
      name: printable(name),
      value: printable(decodeWords(value.slice(0, MAX_READ)).text),
      ...verdictOf(key, value.slice(0, MAX_READ).trim()),
    }));
}

function verdictOf(key: string, value: string): Verdict {
  if (key === "x-spam-level") return { ...NOTHING, score: /^\*+$/.test(value) ? value.length : null };
  if (key.endsWith("-scl")) return confidence(number(/^-?\d{1,2}$/.exec(value)?.[0]));
  if (key === "x-forefront-antispam-report") return readForefront(value);
  if (key === "x-spamd-result") return readRspamd(value);
  const isStatus = /^x-(?:spam|barracuda-spam)-(?:status|flag)$|^x-spam$|^x-rspamd-action$/.test(key);
  const verdict = isStatus ? readWord(value) : null;
  const named = /\bscores?=(-?\d{1,4}(?:\.\d{1,4})?)/i.exec(value)?.[1];
  const bare = /(?:score|spam-val|x-spam)$/.test(key) ? /^-?\d{1,4}(?:\.\d{1,4})?/.exec(value)?.[0] : undefined;
  const threshold = /\b(?:required|tagged_above|threshold)=(-?\d{1,4}(?:\.\d{1,4})?)/i.exec(value)?.[1];
  return { verdict, score: number(named ?? bare), threshold: number(threshold) };
}

/** Reads a result such as "Yes, score=...". Null if it is unknown. */
function readWord(value: string): SpamHeader["verdict"] {
  if (/^(?:yes|true|spam)\b|^reject\b/i.test(value)) return "spam";
  return /^(?:no|false|ham|not spam)\b/i.test(value) ? "ham" : null;
}

function confidence(level: number | null): Verdict {
  if (level === null) return NOTHING;
  return { verdict: level >= SCL_SPAM ? "spam" : "ham", score: level, threshold: SCL_SPAM };
}

/** Reads "CIP:...;SCL:5;SFV:SPM;...". SFV decides if present (Microsoft's documentation of the field). */
function readForefront(value: string): Verdict {
  const level = confidence(number(/(?:^|;)SCL:(-?\d{1,2})(?:;|$)/.exec(value)?.[1]));
  const filtered = /(?:^|;)SFV:([A-Z]{2,4})(?:;|$)/.exec(value)?.[1];
  if (filtered === "SPM" || filtered === "SKB") return { ...level, verdict: "spam" };
  if (filtered === "NSPM" || filtered === "SKN" || filtered === "SKA") return { ...level, verdict: "ham" };
  return level;
}

/** Reads "default: False [1.23 / 15.00]; ...". */
function readRspamd(value: string): Verdict {
  const found = /^\w{1,40}: (True|False) \[(-?\d{1,4}(?:\.\d{1,4})?) \/ (-?\d{1,4}(?:\.\d{1,4})?)\]/.exec(value);
  if (found === null) return NOTHING;
  const [, isSpam, score, threshold] = found;
  return { verdict: isSpam === "True" ? "spam" : "ham", score: number(score), threshold: number(threshold) };
}

function number(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}
