// Regenerates the lists of contracts and implementations from the list of names.
import { writeFileSync } from "node:fs";
import { contractList, implementationList } from "./tool-lists.ts";
import { TOOL_NAMES } from "#shared/tools/names.ts";

writeFileSync(new URL("../shared/tools/index.ts", import.meta.url), contractList(TOOL_NAMES));
writeFileSync(new URL("../probe-agent/tools/index.ts", import.meta.url), implementationList(TOOL_NAMES));
