import { cpSync } from "node:fs";

cpSync("icons", "dist/icons", { recursive: true });
