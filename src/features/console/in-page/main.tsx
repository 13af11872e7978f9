import { render } from "preact";
import { App } from "./app.tsx";
import { startRouter } from "./router.ts";
import { findSession } from "./service/session.ts";

startRouter();
void findSession();

const place = document.getElementById("app");
if (place) render(<App />, place);
