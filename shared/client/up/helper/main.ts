// The supervisor's helper: answers its questions, for which it needs the clients of HTTP and of the database.
import type { Questions } from "#shared/client/up/helper.ts";
import { createDatabase } from "#shared/client/up/postgres/store.ts";
import { describeError } from "#shared/contracts/error-code.ts";

/** A question as it arrives. */
interface Asked {
  readonly id: number;
  readonly question: keyof Questions;
  readonly given: never;
}

// The supervisor has ended, for any reason.
process.once("disconnect", () => process.exit());
process.on("message", ({ id, question, given }: Asked) => {
  void answer(question, given).then((found) => process.send?.({ id, answer: found }));
});

async function answer(question: keyof Questions, given: never): Promise<unknown> {
  if (question === "createDatabase") return create(given);
  // The control plane waits for the database, and loads for longer than this.
  const { createAnswers } = await import("#shared/client/up/helper/answers.ts");
  return createAnswers(process.env, process.cwd())[question](given);
}

function create({ url, name }: Parameters<Questions["createDatabase"]>[0]): Promise<string | null> {
  return createDatabase(url, name).then(() => null, describeError);
}
