/** What visitors of status pages read about an outage whose cause has no words of its own. */
const ANY = "The service does not work as expected";

const NO_ANSWER = "The service does not answer";
const ERROR = "The service answers with an error";
const CERTIFICATE = "Its certificate is not valid";
const NAME = "Its name cannot be looked up";
const RECORDS = "Its DNS records are not as expected";
const DOMAIN = "Its domain is not active";
const JOB = "A scheduled job did not report";

/** By the code of the cause. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["timeout", NO_ANSWER],
  ["ping_timeout", NO_ANSWER],
  ["response_closed", NO_ANSWER],
  ["response_reset", NO_ANSWER],
  ["http_status", ERROR],
  ["keyword_missing", ERROR],
  ["keyword_present", ERROR],
  ["json_mismatch", ERROR],
  ["json_invalid", ERROR],
  ["redirect_loop", ERROR],
  ["too_many_redirects", ERROR],
  ["bad_location", ERROR],
  // shared/monitor-checks/registration.ts has these reasons.
  ["response_not_registered", DOMAIN],
  ["response_pending_delete", DOMAIN],
  ["response_redemption_period", DOMAIN],
  ["response_expired", DOMAIN],
  ["response_on_hold", DOMAIN],
  ["dns_no_records", RECORDS],
  ["dns_records_differ", RECORDS],
  ["dns_record_missing", RECORDS],
  ["dns_record_present", RECORDS],
  ["dns_alias_loop", RECORDS],
  ["dns_dnssec_insecure", RECORDS],
]);

/** By the beginning of the code; the first that fits. */
const BEGINNINGS: readonly (readonly [beginning: string, words: string])[] = [
  ["tls_certificate_", CERTIFICATE],
  ["heartbeat_", JOB],
  ["dns_", NAME],
  ["connect_", NO_ANSWER],
  ["tls_", NO_ANSWER],
  ["request_", NO_ANSWER],
  ["response_", ERROR],
];

/**
 * Says why a service is down in a sentence that strangers may read. It depends on the code of the cause alone, so it has
 * no host, port, address, location, value or text of the target.
 */
export function publicCause(code: string): string {
  return WORDS.get(code) ?? BEGINNINGS.find(([beginning]) => code.startsWith(beginning))?.[1] ?? ANY;
}
