// Regenerates the table of tools in deploy/guide.md from the contracts.
import { readFileSync, writeFileSync } from "node:fs";
import { CONTRACTS } from "#shared/tools/index.ts";
import { withToolTable } from "#shared/tools/table.ts";

const path = new URL("../deploy/guide.md", import.meta.url);
writeFileSync(path, withToolTable(readFileSync(path, "utf8"), CONTRACTS));
