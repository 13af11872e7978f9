/**
 * Leaves zod's messages in 50 languages unloaded, each a file of its own: none of ours asks for them, and an agent is
 * loaded with each browser. To be imported before zod is.
 */
import { registerHooks } from "node:module";

const inZod = /\/node_modules\/zod\//;

registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier === "../locales/index.js" && inZod.test(context.parentURL ?? "") ? "../locales/en.js" : specifier,
      context,
    ),
});
