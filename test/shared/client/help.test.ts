import { describe, expect, it } from "vitest";
import { runVantage } from "#test/shared/client/command-line.ts";

/** A heading of the help with the names of its commands. */
interface Group {
  readonly heading: string;
  readonly commands: readonly string[];
}

const help = async (...words: readonly string[]): Promise<string> => (await runVantage([...words, "--help"], {})).said;

/** Reads the commands of a help text by their headings. */
function groupsOf(text: string): readonly Group[] {
  return text.split(/\n\n/).flatMap((part) => {
    const [heading = "", ...lines] = part.split("\n");
    const commands = lines.flatMap((line) => /^ {2}([a-z][\w-]*)/.exec(line)?.[1] ?? []);
    return heading.endsWith(":") ? [{ heading, commands: commands.filter((name) => name !== "help") }] : [];
  });
}

/** Returns the help of a command, or of each of its commands. */
async function helpsOf(name: string): Promise<readonly string[]> {
  const own = await help(name);
  const below = groupsOf(own).find(({ heading }) => heading === "Commands:")?.commands ?? [];
  return below.length === 0 ? [own] : Promise.all(below.map((one) => help(name, one)));
}

describe("the help", () => {
  it("has a command under a heading that asks for an API key if it takes one, and no other", async () => {
    const groups = groupsOf(await help()).filter(({ heading }) => !heading.startsWith("Options"));
    const wrong: string[] = [];
    for (const { heading, commands } of groups) {
      const asksForKey = heading.includes("need an API key");
      // oxlint-disable-next-line no-await-in-loop -- in the order of the help
      const helps = await Promise.all(commands.map(helpsOf));
      const others = helps.map((texts) => texts.every((text) => text.includes(" --key <key>") === asksForKey));
      wrong.push(...commands.filter((_, index) => others[index] === false).map((name) => `${name}: ${heading}`));
    }
    expect(groups.flatMap(({ commands }) => commands)).toEqual(expect.arrayContaining(["import", "apply", "login"]));
    expect(wrong).toEqual([]);
  });
});
