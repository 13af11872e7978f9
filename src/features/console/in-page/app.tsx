/** The frame of the console: who is signed in, the navigation, and the view of the address. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Questions } from "./parts/dialog.tsx";
import { Messages, Problem } from "./parts/notice.tsx";
import { openPalette, Palette } from "./parts/palette.tsx";
import { chooseProject, ProjectChoice } from "./parts/project-choice.tsx";
import { Reading } from "./parts/reading.tsx";
import { State, type Tone } from "./parts/state.tsx";
import { plainText, Text } from "./parts/text.tsx";
import { ThemeChoice } from "./parts/theme.tsx";
import { Time } from "./parts/time.tsx";
import { go, path, to } from "./router.ts";
import { away, startAway } from "./service/away.ts";
import { keepFocus } from "./service/keep-focus.ts";
import { type Link, link, startLive } from "./service/live.ts";
import { type SignedIn, session, signOut } from "./service/session.ts";
import { SignIn } from "./views/sign-in.tsx";
import { maySee, navigation, neededFor, type View, viewAt, views } from "./views.ts";

const linkStates: Record<Link["state"], [tone: Tone, word: string]> = {
  off: ["quiet", "Not connected"],
  connecting: ["quiet", "Connecting"],
  live: ["good", "Live"],
  lost: ["bad", "Connection lost"],
  refused: ["quiet", "Not live"],
};

const LinkState = () => {
  const { state, since, why } = link.value;
  const [tone, word] = linkStates[state];
  return (
    <span class="link-state" title={why}>
      <State tone={tone}>{word}</State>
      {state === "lost" && (
        <span class="muted">
          {" "}
          <Time at={since} />
        </span>
      )}
    </span>
  );
};

/** Says over the view that what it shows is old. */
const LostBanner = () => {
  const { state, since, why } = link.value;
  if (state !== "lost") return null;
  return (
    <p class="stale" role="status">
      The connection to the service is lost, and is tried again. What you see is as it was <Time at={since} />. Reason:{" "}
      <bdi>{plainText(why)}</bdi>
    </p>
  );
};

const awayWords: Record<string, string> = {
  redis: "Redis does not answer the service: nobody gets a browser, and sessions can't be read or changed.",
  kubernetes:
    "The Kubernetes API does not answer the service: pools, logins, keys and other settings can't be read or changed. Sessions go on.",
};

/** Says over the view which part of the service is away, while the service itself answers. */
const AwayBanner = () => {
  const { parts, since } = away.value;
  if (parts.length === 0) return null;
  return (
    <p class="stale" role="status">
      {parts.map((part) => awayWords[part] ?? `A part of the service is away: ${part}.`).join(" ")} What you see of it
      is as it was <Time at={since} />; it is looked for again and again.
    </p>
  );
};

const Navigation = () => (
  <nav aria-label="Views">
    {navigation.map(({ title, paths }) => {
      const offered = views.filter((view) => paths.includes(view.path) && maySee(view));
      if (offered.length === 0) return null;
      return (
        <section key={title}>
          <h2>{title}</h2>
          <ul>
            {offered.map((view) => (
              <li key={view.path}>
                <a
                  href={to(view.path.slice(1).split("/"))}
                  aria-current={path.value === view.path || path.value.startsWith(`${view.path}/`) ? "page" : undefined}
                >
                  {view.title}
                </a>
              </li>
            ))}
          </ul>
        </section>
      );
    })}
  </nav>
);

const TopBar = ({ signedIn }: { signedIn: SignedIn }) => (
  <header class="top">
    <a class="brand" href={to([])}>
      Browserpool
    </a>
    <ProjectChoice signedIn={signedIn} />
    <button type="button" class="search" onClick={openPalette}>
      Go to … <kbd>{navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl "}K</kbd>
    </button>
    <LinkState />
    <ThemeChoice />
    <details class="menu">
      <summary>
        <span class="unseen">Signed in with key </span>
        <Text of={signedIn.key.name} />
      </summary>
      <div class="menu-inside">
        <p class="muted">
          Signed in until <Time at={signedIn.expires_at} />
        </p>
        <p>
          <a href="/docs">API documentation</a>
        </p>
        <p class="muted">Version {signedIn.version}</p>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </details>
  </header>
);

type Loaded = ComponentType<{ id: string; more: string }>;

const loaded = new Map<string, Loaded>();

const NoView = ({ title, text }: { title: string; text: string }) => (
  <>
    <h1 tabIndex={-1}>{title}</h1>
    <p>{text}</p>
  </>
);

/** What a person is told whose key may see no view at all. */
const nothingToSee = `Your key may see no view. It needs one of the permissions ${[
  ...new Set(views.map(({ permission }) => permission)),
].join(", ")}.`;

/** How often the code of a view is asked for, and the pause before the second time, ms; it doubles. */
const loadTries = 5;
const loadPauseMs = 500;

const loadView = async ({ path: at, load }: View): Promise<void> => {
  for (let tries = 1; !loaded.has(at); tries += 1)
    try {
      const { View: component } = await load();
      loaded.set(at, component);
    } catch (error) {
      if (tries === loadTries) throw error;
      await new Promise((resolve) => setTimeout(resolve, loadPauseMs * 2 ** (tries - 1)));
    }
};

const NotLoaded = () => (
  <>
    <Problem error={new Error("A part of the console was not loaded; the service may have been updated.")} />
    <button type="button" onClick={() => location.reload()}>
      Load the page again
    </button>
  </>
);

/** The view of the address. */
const Main = () => {
  const found = viewAt(path.value);
  const [, redraw] = useState(0);
  const [error, setError] = useState<unknown>();
  const view = found?.view;
  useEffect(() => {
    if (view) loadView(view).then(() => redraw((round) => round + 1), setError);
  }, [view]);
  if (path.value === "") return <NoView title="Nothing to see" text={nothingToSee} />;
  if (!found) return <NoView title="Nothing here" text="The console has no page at this address." />;
  if (!maySee(found.view))
    return <NoView title={found.view.title} text={`Your key lacks the permission ${neededFor(found.view)}.`} />;
  const View = loaded.get(found.view.path);
  if (View) return <View key={path.value} id={found.id} more={found.more} />;
  return (
    <>
      <h1 tabIndex={-1}>{found.view.title}</h1>
      {error === undefined ? <Reading /> : <NotLoaded />}
    </>
  );
};

/** The heading of the view gets the focus when the address leads to another one, and is the title of the page. */
const useHeading = (): void => {
  const at = path.value;
  useEffect(() => {
    const main = document.querySelector("main");
    if (!main) return undefined;
    const name = (): void => {
      const heading = main.querySelector("h1")?.textContent;
      document.title = heading ? `${heading} · Browserpool` : "Browserpool";
    };
    name();
    const observer = new MutationObserver(name);
    observer.observe(main, { childList: true, subtree: true, characterData: true });
    return () => observer.disconnect();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address is another view
  useEffect(() => {
    if (document.activeElement instanceof HTMLElement && document.activeElement !== document.body) {
      const frame = requestAnimationFrame(() => document.querySelector<HTMLElement>("main h1")?.focus());
      return () => cancelAnimationFrame(frame);
    }
    return undefined;
  }, [at]);
};

const Console = ({ signedIn }: { signedIn: SignedIn }) => {
  useEffect(startLive, []);
  useEffect(startAway, []);
  useEffect(keepFocus, []);
  useHeading();
  if (path.value === "") {
    const first = views.find((view) => !view.path.includes(":") && maySee(view));
    if (first) queueMicrotask(() => go(to(first.path.slice(1).split("/"))));
  }
  useEffect(() => chooseProject(signedIn), [signedIn]);
  return (
    <div class="console">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <TopBar signedIn={signedIn} />
      <div class="side">
        <Navigation />
      </div>
      <main id="main">
        <LostBanner />
        <AwayBanner />
        <Main />
      </main>
      <Palette />
      <Questions />
      <Messages />
    </div>
  );
};

/** The console, or the page to sign in. */
export const App = () => {
  const known = session.value;
  if (known === undefined) return <p class="muted loading">Loading …</p>;
  return "key" in known ? <Console signedIn={known} /> : <SignIn reason={known.reason} />;
};
