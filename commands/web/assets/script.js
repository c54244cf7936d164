"use strict";
(function () {
  var root = document.documentElement;
  function stored(name, value) {
    try {
      if (value === undefined) return localStorage.getItem(name);
      if (value) localStorage.setItem(name, value); else localStorage.removeItem(name);
    } catch (e) { /* some browsers give files no storage */ }
    return null;
  }
  var theme = stored("theme"), silent = stored("keys") === "off";
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;

  function all(selector) { return Array.prototype.slice.call(document.querySelectorAll(selector)); }

  function themes(button) {
    var order = ["", "light", "dark"], names = { "": "system", light: "light", dark: "dark" };
    function show() {
      var now = root.dataset.theme || "";
      var word = document.createElement("span");
      word.className = "wide";
      word.textContent = "Theme: ";
      button.replaceChildren(word, names[now]);
      button.setAttribute("aria-label", "Theme: " + names[now]);
    }
    button.hidden = false;
    button.addEventListener("click", function () {
      var next = order[(order.indexOf(root.dataset.theme || "") + 1) % order.length];
      if (next) root.dataset.theme = next; else delete root.dataset.theme;
      stored("theme", next);
      show();
    });
    show();
  }

  // Titles have the reader's time zone, and ages grow while the page is open: "3h", or "3 hours ago".
  function age(seconds, long) {
    var unit = seconds < 3600 ? ["minute", 60] : seconds < 86400 ? ["hour", 3600] : ["day", 86400], n = Math.floor(seconds / unit[1]);
    if (n < 1) return long ? "just now" : "now";
    return long ? n + " " + unit[0] + (n === 1 ? "" : "s") + " ago" : n + unit[0][0];
  }

  function localTimes() {
    all("time[datetime]").forEach(function (time) {
      var at = new Date(time.getAttribute("datetime")), kind = time.dataset.age;
      if (isNaN(at)) return;
      time.title = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
      if (kind === undefined || at > Date.now()) return;
      var text = age((Date.now() - at) / 1000, kind === "ago");
      if (time.textContent !== text) time.textContent = text;
    });
  }

  // An open page asks what is new, and shows it as a button, so that nothing moves under
  // the pointer. Hidden pages do not ask.
  function follow(link) {
    var body = document.body, state = '"' + body.dataset.state + '"', every = 3000;
    function show(news) {
      link.textContent = news.text;
      link.hidden = !news.text;
      var files = document.querySelector("[data-unsaved]");
      if (files && news.unsaved && files.textContent !== news.unsaved) files.textContent = news.unsaved;
      document.title = (news.new ? "(" + news.new + ") " : "") + title;
    }
    var title = document.title, asking = false;
    function ask() {
      if (document.hidden || asking) return;
      asking = true;
      fetch(body.dataset.live, { cache: "no-store", headers: { "If-None-Match": state } }).then(function (answer) {
        if (answer.status !== 200) return null;
        return answer.json().then(function (news) { state = answer.headers.get("ETag"); show(news); });
      }).catch(function () { /* the server has stopped, or will answer later */ }).then(function () { asking = false; });
    }
    link.addEventListener("click", function (e) { e.preventDefault(); location.reload(); });
    document.addEventListener("visibilitychange", ask);
    setInterval(ask, every);
  }

  function copies(button) {
    if (!navigator.clipboard) return;
    button.hidden = false;
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(button.dataset.copy).then(function () {
        button.textContent = "Copied";
        setTimeout(function () { button.textContent = "Copy"; }, 1500);
      }, function () { button.textContent = "Not allowed"; });
    });
  }

  function finder(input) {
    var items = all("[data-list] [data-item]"), groups = all("[data-group]");
    var told = document.querySelector("[data-found]"), before = told ? told.textContent : "";
    var texts = items.map(function (item) { return item.textContent.toLowerCase(); });
    var box = input.closest("[data-finder]");
    if (box) box.hidden = false;
    var start = input.value;
    input.addEventListener("input", function () {
      var want = input.value.trim().toLowerCase(), found = 0;
      if (input.value === start) want = "";
      all(".run > details").forEach(function (run) { if (want !== "") run.open = true; });
      items.forEach(function (item, i) {
        item.hidden = want !== "" && texts[i].indexOf(want) < 0;
        if (!item.hidden) found++;
      });
      all(".run").forEach(function (run) { run.hidden = !run.querySelector("[data-item]:not([hidden])"); });
      groups.forEach(function (g) { g.hidden = !g.querySelector("[data-item]:not([hidden])"); });
      if (told) told.textContent = want === "" ? before : found + " of " + items.length + " on this page" + (input.form ? "; press Enter to search all" : "");
    });
    input.addEventListener("keydown", function (e) {
      if (e.key === "Escape") input.blur();
      if (e.key === "Enter" && !input.form) {
        var first = document.querySelector("[data-item]:not([hidden]) a");
        if (first) first.click();
      }
    });
  }

  // The slider and the keys show another turn beside the list, without a new page.
  var scrub = null;
  function scrubber(input) {
    var pane = document.querySelector("[data-pane]"), asked = null, timer = 0;
    function row(n) { return document.querySelector('[data-n="' + n + '"].frame'); }
    function mark(n) {
      all(".frame").forEach(function (r) {
        var on = r === row(n), link = r.querySelector("a.over");
        r.toggleAttribute("data-selected", on);
        if (on) { link.setAttribute("aria-current", "true"); reveal(r); } else link.removeAttribute("aria-current");
      });
    }
    function reveal(r) {
      var box = r.parentNode;
      if (r.offsetTop < box.scrollTop) box.scrollTop = r.offsetTop;
      else if (r.offsetTop + r.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = r.offsetTop + r.offsetHeight - box.clientHeight;
    }
    function show(n) {
      var url = location.pathname + "?n=" + n;
      if (!row(n)) { location.assign(url); return; }
      mark(n);
      input.value = n;
      if (asked) asked.abort();
      asked = new AbortController();
      fetch(url + "&part=1", { cache: "no-store", signal: asked.signal }).then(function (answer) {
        if (!answer.ok) throw new Error(answer.status);
        return answer.text();
      }).then(function (text) {
        pane.innerHTML = text;
        history.replaceState(null, "", row(n).querySelector("a.over").href);
        localTimes();
      }).catch(function (e) { if (e.name !== "AbortError") location.assign(url); });
    }
    function to(n) {
      n = Math.min(Math.max(n, 1), Number(input.max));
      if (n === Number(input.value) && pane.querySelector('[data-n="' + n + '"]')) return;
      clearTimeout(timer);
      input.value = n;
      mark(n);
      timer = setTimeout(show, 60, n);
    }
    input.hidden = false;
    input.addEventListener("input", function () { var n = Number(input.value); clearTimeout(timer); mark(n); timer = setTimeout(show, 60, n); });
    document.addEventListener("click", function (e) {
      var link = e.target.closest && e.target.closest(".frame a.over, .steps-nav a");
      if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
      var frame = link.closest(".frame"), n = frame ? Number(frame.dataset.n) : Number(input.value) + (link.rel === "next" ? -1 : 1);
      e.preventDefault();
      to(n);
    });
    scrub = function (step) { to(Number(input.value) + step); };
    mark(Number(input.value));
  }

  function visible() {
    return all("[data-item]").filter(function (item) { return !item.hidden && item.getClientRects().length > 0; });
  }

  function target(item) {
    var link = item.querySelector("a.over");
    if (link) return link;
    item.tabIndex = -1;
    return item;
  }

  function move(step) {
    var items = visible(), at = -1;
    items.forEach(function (item, i) { if (item.contains(document.activeElement)) at = i; });
    var next = items[at < 0 ? (step > 0 ? 0 : items.length - 1) : at + step];
    if (!next) return;
    target(next).focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  function open(selector) {
    var link = document.querySelector(selector);
    if (link) link.click();
  }

  // compare selects the row with the focus, or the checkpoint of the page.
  function compare() {
    var item = document.activeElement.closest("[data-item]");
    var link = (item || document).querySelector("[data-compare]");
    if (link) link.click();
  }

  function keys(e) {
    if (silent || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && e.target.type !== "range") return;
    var dialog = document.getElementById("keys");
    if (dialog.open) return;
    var done = true;
    switch (e.key) {
      case "j": if (scrub) scrub(-1); else move(1); break;
      case "k": if (scrub) scrub(1); else move(-1); break;
      case "n": open('main a[rel="next"]'); break;
      case "p": open('main a[rel="prev"]'); break;
      case "c": compare(); break;
      case "r": open("[data-news]:not([hidden])"); break;
      case "u": var up = all(".crumbs a"); if (up.length) up[up.length - 1].click(); break;
      case "?": dialog.showModal(); break;
      case "/":
        var input = document.querySelector("[data-find]");
        if (input) { input.focus(); input.select(); }
        break;
      default: done = false;
    }
    if (done) e.preventDefault();
  }

  function reveal() {
    if (!location.hash) return;
    var at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!at) return;
    if (at.tagName === "DETAILS") at.open = true;
    for (var box = at.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    at.scrollIntoView();
  }

  document.addEventListener("DOMContentLoaded", function () {
    all("[data-theme-switch]").forEach(themes);
    all("[data-copy]").forEach(copies);
    localTimes();
    setInterval(localTimes, 5000);
    all("[data-news]").forEach(follow);
    all("[data-find]").forEach(finder);
    all("[data-scrub]").forEach(scrubber);
    all("[data-keys]").forEach(function (button) {
      button.hidden = false;
      button.addEventListener("click", function () { document.getElementById("keys").showModal(); });
    });
    all("[data-keys-on]").forEach(function (box) {
      box.checked = !silent;
      box.addEventListener("change", function () { silent = !box.checked; stored("keys", silent ? "off" : ""); });
    });
    document.addEventListener("keydown", keys);
    window.addEventListener("hashchange", reveal);
    reveal();
  });
})();
