// Hides consent notices that no rule covers: overlays that mention cookies and have a button to agree. Returns their
// number. Runs in an isolated world.
() => {
  const ABOUT = new RegExp([
    '(use|uses|using|our|store|set|place|accept|allow|all|these|necessary|essential|functional|marketing) [^.]{0,40}cookies',
    'cookies? (and|to|are|help|policy|notice|settings?|preferences|consent|statement)', 'your (consent|privacy choices)',
    'privacy preferences', 'gdpr', 'diese (web)?(seite|site) [^.]{0,30}cookies', 'verwende[nt] [^.]{0,30}cookies', 'einwilligung',
    'nous utilisons [^.]{0,30}cookies', 'ce site [^.]{0,30}cookies', 'utilizamos [^.]{0,30}cookies', 'usamos [^.]{0,30}cookies',
    'utilizziamo [^.]{0,30}cookie', 'questo sito [^.]{0,30}cookie', 'gebruiken [^.]{0,30}cookies', 'używamy [^.]{0,30}cookies',
    'pliki cookie', 'файлы cookie', 'クッキー', 'cookie ?を', 'cookie ?设置', '쿠키',
  ].join('|'), 'i');
  const YES = new RegExp('^\\W*((i |we )?(accept|agree|allow|consent)\\b|got it|i understand|ok(ay)?\\W*$|(alle |alles )?(akzeptieren|zulassen)|'
    + 'zustimmen|einverstanden|(tout |j.)?accept(er|e)|aceptar|accett|aceitar|concordo|accepteren|akkoord|zaakceptuj|akceptuj|'
    + 'zgadzam|godkänn|принять|согласен|同意|接受|すべて|동의)', 'i');
  const LAYERS = 'dialog[open], [role=dialog], [role=alertdialog], [aria-modal=true], [class*=cookie i], [id*=cookie i], [class*=consent i], [id*=consent i]';
  const MAX_TEXT = 2000;
  const isOver = (element) => ['fixed', 'sticky'].includes(getComputedStyle(element).position);
  const isDialog = (element) => element.matches('dialog, [role$=dialog], [aria-modal=true]');
  const isLayer = (element) => isOver(element) || isDialog(element);
  const asks = (element) => {
    const text = element.innerText || '';
    if (!text || text.length > MAX_TEXT || !ABOUT.test(text)) return false;
    if (element.querySelector('input[type=password], input[type=email]')) return false;
    const buttons = element.querySelectorAll('button, a, [role=button], input[type=button], input[type=submit]');
    return Array.from(buttons).some((button) => YES.test((button.innerText || button.value || '').trim()));
  };
  // An overlay that contains the main content of the page is no consent notice, even over an empty body.
  const isPage = (element) => !isDialog(element) && element.querySelector('main, article, h1') !== null;
  const near = document.querySelectorAll('body > *, body > * > *');
  const over = near.length < 2000 ? Array.from(near).filter(isOver) : [];
  const layers = Array.from(new Set([...document.querySelectorAll(LAYERS), ...over])).slice(0, 500);
  const asking = layers.filter((one) => isLayer(one) && !isPage(one) && asks(one));
  // The innermost elements only.
  const found = asking.filter((one) => !asking.some((other) => other !== one && one.contains(other)));
  for (const one of found) {
    one.style.setProperty('display', 'none', 'important');
    // Marks it as an overlay, so that a link to its settings elsewhere does not turn it into content.
    one.setAttribute('aria-modal', 'true');
  }
  return found.length;
}
