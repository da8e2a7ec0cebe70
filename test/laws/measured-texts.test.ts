import { describe, expect, it } from "vitest";
import { MEASURED } from "#test/laws/measured-texts.ts";
import { parseSourceFile, readSourceFiles, type SourceFile } from "#test/laws/source-files.ts";

/** Functions that take far longer than reading a text, or grow with the square of its length. */
const COSTLY =
  /\.normalize\(|\.localeCompare\(|\.toLocale(?:Lower|Upper)Case\(|\bIntl\.(?:Collator|Segmenter)\b|\bdomainTo(?:ASCII|Unicode)\(|\bdecodeURI(?:Component)?\(|\bnew URLSearchParams\(/;

const isCostly = ({ code }: Pick<SourceFile, "code">): boolean => COSTLY.test(code);

describe("a text is measured before it is worked on", () => {
  it("in every file of the control plane that normalises, collates or decodes texts", () => {
    // The commands of shared/client run on the machine of the user who gives them their texts.
    const files = readSourceFiles(["control-plane", "shared"]).filter(({ path }) => !path.startsWith("shared/client/"));
    const found = files.filter(isCostly).map(({ path }) => path);
    const reason =
      "Add the file to test/laws/measured-texts.ts with the bound of its texts, and look at that bound first.";
    expect(found.toSorted(), reason).toEqual(Object.keys(MEASURED).toSorted());
  });

  it.each([
    'given.normalize("NFC")',
    "one.localeCompare(other)",
    "new Intl.Segmenter()",
    "domainToASCII(host)",
    "decodeURIComponent(path)",
  ])("and the law finds %s", (code) => {
    expect(isCostly(parseSourceFile("control-plane/a.ts", `const a = ${code};\n`))).toBe(true);
  });
});
