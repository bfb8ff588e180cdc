# frozen_string_literal: true

# Fetches the Chinook sample database, which a gem carries as a SQLite file, to the path that is given. Only the data is wanted:
# the gem can't be in the bundle, because it pins an old ActiveRecord. `gem fetch` would read the index of all gems, which takes
# minutes on a slow network and 850 MB; this reads one file.

require "digest"
require "fileutils"
require "rubygems/package"
require "rubygems/remote_fetcher"
require "tmpdir"

GEM = "chinook_database-0.1.6.gem"
SHA256 = "d1c756d07f849e7c6f307c7fe612d75983071a91503ffd6686d3ded577aebf89"
ENTRY = "lib/db/Chinook.sqlite"

target = ARGV.fetch(0)
package = Gem.sources.to_a.each do |source|
  break Gem::RemoteFetcher.fetcher.fetch_path(URI.join("#{source.to_s.chomp("/")}/", "gems/#{GEM}"))
rescue Gem::RemoteFetcher::FetchError => e
  warn e.message
end
abort "#{GEM} was found at none of the sources that `gem sources` lists" unless package.is_a?(String)
digest = Digest::SHA256.hexdigest(package)
abort "#{GEM} isn't the file that it was: its SHA-256 is #{digest}, and was #{SHA256}" unless digest == SHA256

Dir.mktmpdir("chinook", File.dirname(target)) do |folder|
  File.binwrite("#{folder}/#{GEM}", package)
  Gem::Package.new("#{folder}/#{GEM}").extract_files(folder, ENTRY)
  FileUtils.mv("#{folder}/#{ENTRY}", target) # last and atomic: the file is there whole or not at all
end
