import type { ResultOf } from "#shared/tools/define.ts";
import type { emailHeader } from "#shared/tools/email-header.ts";
import type { TrustedResults } from "#probe-agent/analysis/mail/email-headers/auth-summary.ts";
import type { ReceivedSpf } from "#probe-agent/analysis/mail/email-headers/received/spf.ts";
import { printable, printableOrNull } from "#probe-agent/analysis/text/printable.ts";

type Result = ResultOf<typeof emailHeader>;

const MAX_COMMENTS = 10;

/** Makes the result row of an Authentication-Results field. */
export function resultsRow({ parsed, trusted }: TrustedResults): Result["authentication_results"][number] {
  return {
    authserv_id: printableOrNull(parsed.authservId),
    version: parsed.version,
    trusted,
    malformed: parsed.malformed,
    results: parsed.results.map(({ method, result, reason, properties, comments }) => ({
      method: printable(method),
      result: printable(result),
      reason: printableOrNull(reason),
      properties: properties.map(({ type, property, value }) => ({
        type: printable(type),
        property: printable(property),
        value: printable(value),
      })),
      comments: comments.slice(0, MAX_COMMENTS).map((comment) => printable(comment)),
    })),
  };
}

/** Makes the result row of a Received-SPF field. */
export function spfRow({ result, comment, pairs }: ReceivedSpf): Result["received_spf"][number] {
  const pair = (key: string): string | null => printableOrNull(pairs.get(key));
  return {
    result,
    comment: printableOrNull(comment),
    client_ip: pair("client-ip"),
    envelope_from: pair("envelope-from"),
    helo: pair("helo"),
    receiver: pair("receiver"),
    identity: pair("identity"),
    mechanism: pair("mechanism"),
    problem: pair("problem"),
  };
}
