// The rules by which n8n checks community nodes.
import js from "@eslint/js";
import { n8nCommunityNodesPlugin } from "@n8n/eslint-plugin-community-nodes";
import base from "eslint-plugin-n8n-nodes-base";
import { globalIgnores } from "eslint/config";
import typescript from "typescript-eslint";

const { recommended } = n8nCommunityNodesPlugin.configs;

export default typescript.config(
  globalIgnores(["dist", "tests", "*.mjs"]),
  { files: ["**/*.ts"], extends: [js.configs.recommended, typescript.configs.recommended, recommended] },
  { plugins: { "n8n-nodes-base": base } },
  {
    files: ["package.json"],
    extends: [recommended],
    rules: { ...base.configs.community.rules, "n8n-nodes-base/community-package-json-license-not-default": "off" }, // MIT
    languageOptions: { parser: typescript.parser, parserOptions: { extraFileExtensions: [".json"] } },
  },
  {
    files: ["credentials/**/*.ts"],
    rules: {
      ...base.configs.credentials.rules,
      "n8n-nodes-base/cred-class-field-documentation-url-miscased": "off", // of n8n's own nodes
    },
  },
  {
    files: ["nodes/**/*.ts"],
    rules: {
      ...base.configs.nodes.rules,
      "n8n-nodes-base/node-class-description-inputs-wrong-regular-node": "off", // they want texts, the newer rules constants
      "n8n-nodes-base/node-class-description-outputs-wrong": "off",
    },
  },
);
