import type { Command } from "commander";
import { carryOut } from "#shared/client/apply/carry-out.ts";
import { makePlan } from "#shared/client/apply/make-plan.ts";
import { hideSecrets } from "#shared/client/apply/problems.ts";
import { countPlan, isEmpty, showPlan, showSources } from "#shared/client/apply/show-plan.ts";
import { addConnectionFlags, failWith, type ClientFlags } from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { INTERRUPTED } from "#shared/client/exit-codes.ts";
import { STDIN } from "#shared/client/input-file.ts";

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
