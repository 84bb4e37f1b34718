// Applies the stored preferences before anything is drawn, so that nothing
// flashes. preferences.js changes them.
{
  const root = document.documentElement;
  const kept = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // no storage
    }
  };
  const language = kept('language') ?? (navigator.language.startsWith('zh') ? 'zh' : 'en');
  root.lang = language === 'zh' ? 'zh-CN' : 'en';
  root.dataset.theme = ['light', 'dark'].find((theme) => theme === kept('theme')) ?? 'auto';
}
if (location.protocol === 'file:') addEventListener('DOMContentLoaded', () => { // from files, a browser loads no modules
  document.body.textContent = 'This page needs a web server: python3 -m http.server · 这个页面需要一个 Web 服务器';
});
