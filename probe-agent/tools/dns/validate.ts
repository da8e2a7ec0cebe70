import { validate, type AnsweredQuestion, type Verdict } from "#probe-agent/analysis/dns/dnssec.ts";
import { predictQuestions } from "#probe-agent/analysis/dns/dnssec/predict-questions.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { createLookups, type Resolver } from "#probe-agent/tools/dns/lookups.ts";

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
