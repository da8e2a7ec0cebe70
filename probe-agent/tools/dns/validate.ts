import { validate, type AnsweredQuestion, type Verdict } from "#probe-agent/tools/dns/dnssec.ts";
import { ancestor, parseName, type Name } from "#probe-agent/tools/dns/dnssec/names.ts";
import { groupRrsets } from "#probe-agent/tools/dns/dnssec/rrsets.ts";
import type { Question, Reply } from "#probe-agent/tools/dns/dnssec/session.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { createLookups, type Resolver } from "#probe-agent/tools/dns/lookups.ts";

/** Bounds of predicted questions: labels of a name, and questions. */
const MAX_LABELS = 5;
const MAX_QUESTIONS = 30;

/**
 * Validates answers about one name in the probe. Fetches the chain of trust from the resolver that gave the answers.
 */
export async function validateOurselves(
  net: Net,
  resolver: Resolver,
  name: string,
  asked: readonly AnsweredQuestion[],
): Promise<Verdict> {
  const lookups = createLookups(net, resolver);
  // Not awaited here: the validator waits for the answers it needs.
  const replies = asked.map(({ reply }) => reply);
  for (const question of predictQuestions(name, replies)) void lookups.ask(question);
  const run = validate(asked, net.trustAnchors, net.now());
  let next = run.next();
  while (next.done !== true) next = run.next(await lookups.ask(next.value));
  return next.value;
}

/**
 * Predicts the questions that validating these replies will most likely yield, so that they can be sent at the same
 * time: DNSKEY and DS of the signers and of the zones above them, and DS of names without a signature. Up to 30
 * questions.
 */
function predictQuestions(name: string, replies: readonly Reply[]): readonly Question[] {
  const asked = parseName(name);
  const sets = replies.flatMap(({ answers, authority }) => groupRrsets([...answers, ...authority]));
  const signers = sets.flatMap(({ signatures }) => signatures.slice(0, 2).map(({ signer }) => signer));
  const unsigned = sets.filter(({ signatures }) => signatures.length === 0).map(({ owner }) => owner);
  const questions = new Map<string, Question>();
  const add = (zone: Name, type: string): void => {
    if (questions.size < MAX_QUESTIONS) questions.set(`${zone.text} ${type}`, { name: zone.text, type });
  };
  for (const signer of signers) {
    for (const zone of above(signer)) {
      add(zone, "DNSKEY");
      if (zone.labels.length > 0) add(zone, "DS");
    }
  }
  if (asked !== null) for (const zone of above(asked).slice(0, 2)) add(zone, "DNSKEY");
  for (const owner of asked === null ? unsigned : [asked, ...unsigned]) {
    for (const zone of above(owner)) if (zone.labels.length > 0) add(zone, "DS");
  }
  return [...questions.values()];
}

/** Returns the root, the top-level domain and so on down to the name, at most five labels deep. */
function above(name: Name): readonly Name[] {
  return Array.from({ length: Math.min(name.labels.length, MAX_LABELS) + 1 }, (_, count) => ancestor(name, count));
}
