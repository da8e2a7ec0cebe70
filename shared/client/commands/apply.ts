import type { Command } from "commander";
import { makePlan, fingerprintOf, idsByName, readAccount, type Planned } from "#shared/client/apply/make-plan.ts";
import { hideSecrets } from "#shared/client/apply/problems.ts";
import { countPlan, isEmpty, showPlan, showSources } from "#shared/client/apply/show-plan.ts";
import { addConnectionFlags, failWith, type ClientFlags } from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { INTERRUPTED, FORBIDDEN, USAGE } from "#shared/client/exit-codes.ts";
import { STDIN } from "#shared/client/input-file.ts";
import { deleteMonitor, findManaged, importDocument, type Step } from "#shared/client/apply/service.ts";
import { writeWebhooks } from "#shared/client/apply/webhooks/service.ts";
import { field } from "#shared/client/call.ts";

/** Heading of the commands for documents. */
export const GROUP = "Monitoring as code (need an API key):";

/** Adds `deploy/vantage apply`. */
export function addApply(program: Command, context: CommandContext): void {
  const applying = program
    .command("apply")
    .helpGroup(GROUP)
    .description("make your account have what a file has: show what changes, ask, and do it at once or not at all")
    .requiredOption("-f, --file <file>", "document of an export, in YAML or JSON; - is standard input")
    .option("--dry-run", "only show what would change")
    .option("--yes", "do not ask")
    .option(
      "--allow-files <dir>",
      "also read files of this folder where the document says {file: path}; without it only those of its own folder",
      (dir: string, others: readonly string[] | undefined) => [...(others ?? []), dir],
    )
    .option(
      "--prune",
      "delete monitors and webhooks that an apply with the owner of the document created, and that it does not have",
    );
  addConnectionFlags(applying).action(async (flags: ClientFlags) => {
    const isDryRun = flags["dryRun"] === true;
    if (!isDryRun && flags["yes"] !== true && (!context.input.isTerminal || flags["file"] === STDIN)) {
      return failWith(context, "apply", {
        line: "there is no terminal to ask on: pass --yes, or --dry-run to see what would change",
      });
    }
    const planned = await makePlan(context, flags);
    if (!planned.ok) return failWith(context, "apply", planned);
    const { shown: plan, read } = planned.value;
    const warnings = planned.value.warnings.map((one) => hideSecrets(read, `Warning: ${one}`));
    if (isEmpty(plan)) return context.say(["No change.", ...warnings].join("\n"));
    const shown = hideSecrets(read, [showPlan(plan), ...showSources(read.sources), ...warnings].join("\n"));
    if (isDryRun) return context.say(`${shown}\n\nPlan: ${countPlan(plan)}.`);
    if (flags["yes"] !== true) {
      for (const line of `${shown}\n\nPlan: ${countPlan(plan)}.`.split("\n")) context.complain(line);
      const answer = await context.input.ask("Apply it? [y/N] ");
      if (answer === null || !/^y(?:es)?$/i.test(answer)) {
        return failWith(context, "apply", { line: "nothing is changed", exit: INTERRUPTED });
      }
    }
    // What is written, and what is read for it, is named before it happens.
    if (flags["yes"] === true) context.say(`${shown}\n`);
    const done = await carryOut(planned.value);
    if (!done.ok) return failWith(context, "apply", done);
    context.say(done.value);
  });
}

/**
 * Does what a plan says, if the account is still as it was: monitors and what is imported with them at once, then webhooks,
 * whose filters need the ids of monitors, then deletions. Returns a line with the numbers of rows.
 */
async function carryOut(planned: Planned): Promise<Step<string>> {
  const { connection, read, plan, webhooks, shown } = planned;
  const account = await readAccount(connection, read);
  if (!account.ok) return account;
  if (fingerprintOf(read, account.value) !== planned.fingerprint) {
    return {
      ok: false,
      line: "your account has changed since the plan: nothing is written; run it again",
      exit: USAGE,
    };
  }
  const { owner } = read;
  const doomed: Step<readonly { readonly id: number; readonly name: string }[]> =
    owner === null || plan.deleted.length === 0
      ? { ok: true, value: [] }
      : await findManaged(connection, owner, plan.deleted);
  if (!doomed.ok) return doomed;
  const writes = plan.created.length + plan.changed.length > 0;
  const imported = writes ? await importDocument(connection, plan.document, false) : null;
  if (imported?.ok === false) return { ...imported, line: hideSecrets(read, imported.line) };
  const counts = { created: plan.created.length, changed: plan.changed.length, deleted: 0 };
  const done = () =>
    `Created ${counts.created}, changed ${counts.changed}, deleted ${counts.deleted}, unchanged ${shown.unchanged.length}.`;
  const endAt = <T extends { readonly line: string }>(failed: T): T => {
    return { ...failed, line: hideSecrets(read, `${failed.line}. ${done()} Run it again for the rest.`) };
  };
  if (webhooks !== null) {
    const ids = idsByName(plan.document, account.value, imported?.value.ids ?? []);
    const naming = { owner, idOf: (name: string) => ids.get(name) };
    const written = await writeWebhooks(connection, webhooks, naming, (what) => (counts[what] += 1));
    if (!written.ok) return endAt(written);
  }
  const failed: Failure[] = [];
  for (const { id, name } of doomed.value) {
    // oxlint-disable-next-line no-await-in-loop -- requests count by the plan
    const answer = await deleteMonitor(connection, id);
    if (answer.ok) counts.deleted += 1;
    // Somebody else has deleted it meanwhile: the account has what the file has.
    else if (field(answer.error, "code") !== "not_found")
      failed.push({ ...answer, line: `${answer.line} (at the deletion of ${name})` });
    if (!answer.ok && concernsAll(answer)) break;
  }
  const [first] = failed.toSorted((one, other) => other.exit - one.exit);
  if (first === undefined) return { ok: true, value: done() };
  const others = failed.length === 1 ? "" : `, and ${failed.length - 1} more failed`;
  return endAt({ ...first, line: first.line + others });
}

type Failure = Extract<Step<never>, { readonly ok: false }>;

/** Reports whether what follows would fail too: the key or a limit is at fault, or the service does not answer. */
function concernsAll({ exit, error }: Failure): boolean {
  return exit === FORBIDDEN || error === undefined;
}
