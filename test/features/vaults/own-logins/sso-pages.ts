/** Pages with buttons of single sign-on, which lead to a provider on another host. */

const link = (href: string, more = ""): string =>
  `<p><a role=button href="${href}"${more}>Continue with Acme ID</a></p>`;

/** The login page of a kind; undefined when it has no such button. `provider`: the URL of the provider's host. */
export const ssoPage = (kind: string, provider: string): string | undefined => {
  const url = `${provider}/${kind}/sso`;
  if (kind === "idp-popup")
    return `<p>Welcome</p><button onclick="window.open('${url}', 'login', 'width=400,height=400')">Sign in with Acme ID</button>`;
  if (kind === "idp-beside")
    return `<form method=post action=in><label>User name <input name=username></label>
      <label>Password <input name=password type=password></label><button type=button onclick="location.href='${url}'">Continue with Acme ID</button>
      <button>Continue</button></form>`;
  return kind.startsWith("idp-")
    ? `<p>Welcome</p>${link(url)}<p><a href=terms>Google terms of service</a></p>`
    : undefined;
};

/** What the provider asks a person for, after its login. */
export const consentPage = `<p>Allow the shop to see your name?</p><form method=post action=allow><button>Allow</button></form>
  <a href=sso>Sign out</a>`;

/** Closes the window of the provider, and has the page before go on. */
export const closingPage = `<p>One moment</p><script>opener.location = "home"; window.close();</script>`;
