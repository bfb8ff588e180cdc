# frozen_string_literal: true

# `rake site` builds the documentation site into tmp/site: README, UPGRADING, CHANGELOG, all pages of docs/, and the public API,
# by YARD as .yardopts says. Pages link to one another by the names of their files in the repository; in the site they have other
# names. Fails if a link leads nowhere.
class Site
  ROOT = File.expand_path("..", __dir__)
  FOLDER = "#{ROOT}/tmp/site".freeze
  PAGES = %w[README.md UPGRADING.md CHANGELOG.md].freeze
  # What is no page of the site, such as a file of the repository: its name stays, and nothing is linked.
  IN_REPOSITORY = %r{\A(?![a-z]+:|#)[\w./-]+}

  def build
    FileUtils.rm_rf(FOLDER)
    run("yard", "doc", "--quiet", "--output-dir", FOLDER, "--db", "#{ROOT}/tmp/site-database", "--markup-provider", "kramdown")
    FileUtils.mkdir_p("#{FOLDER}/docs")
    FileUtils.cp_r("#{ROOT}/docs/images", "#{FOLDER}/docs")
    pages.each { |page| File.write(page, linked(File.read(page))) }
    dead = pages.flat_map { |page| dead_links(page) }.uniq
    abort "site: these links lead nowhere:\n  #{dead.join("\n  ")}" if dead.any?

    puts "site: #{pages.size} pages, tmp/site/index.html"
  end

  private

  def pages = Dir["#{FOLDER}/*.html"]

  def linked(html)
    named(html).gsub(%r{<a href="([^"]+)"([^>]*)>(.*?)</a>}m) { |link| leads(*Regexp.last_match.captures) || link }
               .gsub(%r{src="(?:docs/)?(images/[^"]+)"}, 'src="docs/\1"')
  end

  # Headings have the names that links on GitHub have.
  def named(html)
    known = Hash.new(-1)
    html.gsub(%r{<h([1-6]) id="[^"]*">(.*?)</h\1>}m) do
      level, text = Regexp.last_match.captures
      name = CGI.unescapeHTML(text.gsub(/<[^>]*>/, "")).downcase.gsub(/[^\p{Word} -]/, "").tr(" ", "-")
      number = known[name] += 1
      %(<h#{level} id="#{name}#{"-#{number}" if number.positive?}">#{text}</h#{level}>)
    end
  end

  # @return [String, nil] nil for a link that stays
  def leads(target, attributes, text)
    path, anchor = target.split("#", 2)
    return if path.to_s.end_with?(".html") || !IN_REPOSITORY.match?(target)

    page = page_of(path.delete_prefix("../").delete_prefix("docs/"))
    page ? %(<a href="#{page}#{"##{anchor}" if anchor}"#{attributes}>#{text}</a>) : text
  end

  def page_of(path)
    return "index.html" if path == "README.md"

    page = "file.#{File.basename(path, ".md")}.html"
    page if path.end_with?(".md") && File.file?("#{FOLDER}/#{page}")
  end

  def dead_links(page)
    File.read(page).scan(/<a href="([^"]+)"/).flatten.filter_map do |target|
      next if target.match?(/\A[a-z]+:|\A#\z/)

      path, anchor = target.split("#", 2)
      file = path.empty? ? page : "#{FOLDER}/#{CGI.unescape(path)}"
      "#{File.basename(page)}: #{target}" unless File.file?(file) && (anchor.nil? || anchors(file).include?(CGI.unescape(anchor)))
    end
  end

  def anchors(file)
    (@anchors ||= {})[file] ||= File.read(file).scan(/(?:id|name)="([^"]*)"/).to_set { |(name)| CGI.unescapeHTML(name) }
  end

  def run(*command) = Dir.chdir(ROOT) { system("bundle", "exec", *command) } || abort("site: #{command.first} failed")
end

desc "Build the documentation site into tmp/site, and check its links (installs yard if it is missing)"
task :site do
  require "cgi"
  require "fileutils"
  require "set"
  Bundler.with_unbundled_env do
    ENV["BUNDLE_WITH"] = "site"
    sh "bundle check >/dev/null 2>&1 || bundle install --quiet"
    Site.new.build
  end
end
