import { describe, expect, it } from "vitest";
import { readSourceFiles } from "#test/laws/source-files.ts";

const product = readSourceFiles(["control-plane"]);

describe("the settings of monitors", () => {
  it("are parsed by one function, which knows the defaults of what old rows lack", () => {
    const ofRows = /JSON\.parse\([^)]*\)\s+as\s+(?:Partial<|Pick<)?MonitorSettings|JSON\.parse\((?:\w+\.)*settings\b/;
    const parsers = product.filter(({ code }) => ofRows.test(code)).map(({ path }) => path);
    expect(parsers).toEqual(["control-plane/kinds/stored-settings.ts"]);
  });
});
