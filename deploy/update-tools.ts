// Regenerates every list of tools from their names: contracts and presenters, implementations, and the guide's table.
import { readFileSync, writeFileSync } from "node:fs";
import { contractList, implementationList, withToolTable } from "./tool-lists.ts";
import { TOOL_NAMES } from "#shared/tools/names.ts";

const root = new URL("../", import.meta.url);
writeFileSync(new URL("shared/tools/index.ts", root), contractList(TOOL_NAMES));
writeFileSync(new URL("probe-agent/tools/index.ts", root), implementationList(TOOL_NAMES));

// The table is made of the contracts, by the list that was just written.
const { CONTRACTS } = await import("#shared/tools/index.ts");
const guide = new URL("deploy/guide.md", root);
writeFileSync(guide, withToolTable(readFileSync(guide, "utf8"), CONTRACTS));
